package dev.vamana.cuda.compile;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.StringArray;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * NVIDIA's run-time compiler, called through JNA. It needs no CUDA toolkit, no headers and no GPU.
 * Safe for use by several threads, which compile at the same time. {@link KernelCompiler} calls it.
 */
public final class Nvrtc {

  private static final String UTF8 = StandardCharsets.UTF_8.name();

  /** Names of the library; machine code of the oldest runs on the most drivers. */
  private static final List<String> NAMES = List.of("libnvrtc.so.12", "libnvrtc.so.13");

  private static final String BUILTINS = "libnvrtc-builtins.so";

  private final NativeLibrary library;
  private final int version;

  /**
   * Output of a compilation.
   *
   * @param cubin machine code
   * @param ptx PTX of the same architecture, with a zero byte at the end
   * @param log what the compiler and the assembler said
   */
  record Output(byte[] cubin, byte[] ptx, String log) {}

  private Nvrtc(NativeLibrary loaded) throws IOException {
    library = loaded;
    IntByReference major = new IntByReference();
    IntByReference minor = new IntByReference();
    check("nvrtcVersion", major, minor);
    version = 1000 * major.getValue() + 10 * minor.getValue();
  }

  /**
   * Loads the library.
   *
   * @param folder holds {@code libnvrtc.so.12} or a later version, and its {@code
   *     libnvrtc-builtins.so}; null for the library that the system finds
   * @throws IOException if it is not there or does not load
   */
  public static Nvrtc load(Path folder) throws IOException {
    return new Nvrtc(folder == null ? ofTheSystem() : ofFolder(folder));
  }

  private static NativeLibrary ofFolder(Path folder) throws IOException {
    for (String name : NAMES) {
      Path library = folder.resolve(name);
      if (Files.exists(library)) {
        // the compiler opens its builtins by name, and finds them if they are loaded already
        try (Stream<Path> files = Files.list(folder)) {
          for (Path file :
              files.filter(each -> each.getFileName().toString().startsWith(BUILTINS)).toList()) {
            load(file.toString());
          }
        }
        return load(library.toString());
      }
    }
    throw new IOException("folder " + folder + " has none of " + String.join(", ", NAMES));
  }

  private static NativeLibrary ofTheSystem() throws IOException {
    IOException failure = null;
    for (String name : NAMES) {
      try {
        return load(name);
      } catch (IOException e) {
        failure = e;
      }
    }
    throw failure;
  }

  private static NativeLibrary load(String name) throws IOException {
    try {
      return NativeLibrary.getInstance(name);
    } catch (LinkageError e) {
      throw new IOException(
          name
              + " cannot be loaded: "
              + String.valueOf(e.getMessage()).lines().findFirst().orElse(""),
          e);
    }
  }

  /** Version of the compiler, 12090 for CUDA 12.9. */
  public int version() {
    return version;
  }

  /**
   * Compiles one source.
   *
   * @param name name of the source, for messages
   * @param source text of the source
   * @param headers text of every header by the name that sources include it by
   * @param options options of the compiler, {@code -arch=sm_90} among them
   * @throws IOException if it does not compile; the message is the compiler's
   */
  Output compile(String name, String source, Map<String, String> headers, List<String> options)
      throws IOException {
    String[] names = headers.keySet().toArray(new String[0]);
    String[] texts = headers.values().toArray(new String[0]);
    PointerByReference program = new PointerByReference();
    check(
        "nvrtcCreateProgram",
        program,
        source,
        name,
        names.length,
        new StringArray(texts, UTF8),
        new StringArray(names, UTF8));
    try {
      Pointer compiled = program.getValue();
      int result =
          call(
              "nvrtcCompileProgram",
              compiled,
              options.size(),
              new StringArray(options.toArray(new String[0]), UTF8));
      String log = log(compiled);
      if (result != 0) {
        throw new IOException(name + " does not compile: " + errorName(result) + "\n" + log);
      }
      return new Output(
          bytes(compiled, "nvrtcGetCUBINSize", "nvrtcGetCUBIN"),
          bytes(compiled, "nvrtcGetPTXSize", "nvrtcGetPTX"),
          log);
    } finally {
      call("nvrtcDestroyProgram", program);
    }
  }

  private String log(Pointer program) throws IOException {
    byte[] log = bytes(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
    return new String(log, 0, Math.max(0, log.length - 1), StandardCharsets.UTF_8);
  }

  private byte[] bytes(Pointer program, String sizeFunction, String function) throws IOException {
    LongByReference size = new LongByReference();
    check(sizeFunction, program, size);
    if (size.getValue() == 0) {
      return new byte[0];
    }
    try (Memory memory = new Memory(size.getValue())) {
      check(function, program, memory);
      return memory.getByteArray(0, Math.toIntExact(size.getValue()));
    }
  }

  private int call(String function, Object... arguments) {
    return library.getFunction(function).invokeInt(arguments);
  }

  private void check(String function, Object... arguments) throws IOException {
    int result = call(function, arguments);
    if (result != 0) {
      throw new IOException(function + " answered " + errorName(result));
    }
  }

  private String errorName(int result) {
    return library
        .getFunction("nvrtcGetErrorString")
        .invokePointer(new Object[] {result})
        .getString(0, UTF8);
  }
}
