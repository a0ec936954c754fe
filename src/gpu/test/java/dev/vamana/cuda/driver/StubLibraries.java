package dev.vamana.cuda.driver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Stubs of NVIDIA's libraries (src/gpu/test/native) for another process, in which they provide a
 * device made of host memory. JCuda, JNA and the kernels' host library are the real ones; only the
 * layers below them are replaced.
 */
public final class StubLibraries {

  private static final Path SOURCES = Path.of("src", "gpu", "test", "native");
  private static final Path HOST_LIBRARY = Path.of("target", "native", "libvamana-host.so");

  private final Path folder;

  private StubLibraries(Path folder) {
    this.folder = folder;
  }

  /**
   * Compiles them; tests are skipped where there is no {@code cuda.h} or no host library.
   *
   * @param folder an existing one, of the default file system; absolute
   */
  public static StubLibraries compile(Path folder) throws Exception {
    Path headers = headers();
    assumeTrue("no cuda.h", headers != null);
    assumeTrue("no host library", Files.exists(HOST_LIBRARY));
    compile(folder.resolve("libcuda.so.1"), "g++", "-std=c++17", "-I" + headers, "cuda_stub.cpp");
    compile(folder.resolve("libnvrtc.so.12"), "g++", "-std=c++17", "nvrtc_stub.cpp");
    // beside them, since the other process's user may not be allowed to read the build folder
    Files.copy(HOST_LIBRARY, folder.resolve(HOST_LIBRARY.getFileName()));
    return new StubLibraries(folder);
  }

  /** Environment variables of a process that is to load them. */
  public Map<String, String> environment() {
    return Map.of(
        "LD_LIBRARY_PATH",
        folder.toString(),
        "VAMANA_HOST_LIBRARY",
        folder.resolve(HOST_LIBRARY.getFileName()).toString());
  }

  private static void compile(Path library, String compiler, String... arguments) throws Exception {
    List<String> command =
        new ArrayList<>(List.of(compiler, "-shared", "-fPIC", "-Wall", "-Werror"));
    command.add("-Wl,-soname," + library.getFileName());
    command.add("-o");
    command.add(library.toString());
    command.addAll(List.of(arguments));
    command.add("-ldl");
    ProcessBuilder process = new ProcessBuilder(command).directory(SOURCES.toFile());
    run(process, library.resolveSibling("compiler.txt"));
  }

  /** Runs a process to its end, which has to be a good one; what it printed. */
  static String run(ProcessBuilder builder, Path output) throws Exception {
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertTrue("still running", process.waitFor(5, TimeUnit.MINUTES));
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(output, StandardCharsets.UTF_8);
    assertEquals(text, 0, process.exitValue());
    return text;
  }

  /** Where cuda.h is, or null. */
  private static Path headers() throws IOException {
    List<String> folders = new ArrayList<>(List.of("/usr/local/cuda/include"));
    String home = System.getenv("CUDA_HOME");
    if (home != null) {
      folders.add(home + "/include");
    }
    for (String folder : folders) {
      if (Files.exists(Path.of(folder, "cuda.h"))) {
        return Path.of(folder);
      }
    }
    return null;
  }
}
