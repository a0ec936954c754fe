package dev.vamana.tools.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Finds native libraries of the operating system that a node needs and that are not on Maven
 * Central.
 */
final class NativeLibraries {

  /** System property with the folder of built distance functions. */
  private static final String VEC_PROPERTY = "vamana.node.vec";

  private static final String VEC = "libvec.so";

  private NativeLibraries() {}

  /**
   * Copies the system's {@code libzstd.so.1}, if there is one, to the folder where the node looks
   * for it.
   *
   * @param platform the home's folder {@code lib/platform}, created only if the library is found
   */
  static void installZstd(Path platform) throws IOException {
    Path library = find("libzstd.so.1");
    if (library == null) {
      return;
    }
    Path folder = Files.createDirectories(platform.resolve(platformName()));
    Files.copy(library, folder.resolve("libzstd.so"), StandardCopyOption.REPLACE_EXISTING);
  }

  /** Whether {@link #installZstd} has installed the library. */
  static boolean hasZstd(Path platform) {
    return Files.exists(platform.resolve(platformName()).resolve("libzstd.so"));
  }

  /**
   * Copies native distance functions to the folder where the node looks for them, built by the
   * script {@code build} beside their source if nobody has built them before.
   *
   * @param platform the home's folder {@code lib/platform}
   * @return whether there are such functions for this processor; without g++ there are none
   */
  static boolean installVec(Path platform) throws IOException {
    Path folder = Path.of(System.getProperty(VEC_PROPERTY, "target/libvec"));
    Path build = Path.of("src/tools/libvec/build");
    if (Files.notExists(folder) && Files.isExecutable(build)) {
      Process process = new ProcessBuilder(build.toString(), folder.toString()).inheritIO().start();
      process.onExit().join();
    }
    String flags = Files.readString(Path.of("/proc/cpuinfo"));
    boolean wide = flags.contains("avx512_vnni") && flags.contains("avx512_vpopcntdq");
    Path library = folder.resolve(wide ? "libvec-avx512.so" : "libvec-avx2.so");
    if (Files.notExists(library) || flags.contains("avx2") == false) {
      return false;
    }
    Files.copy(
        library,
        Files.createDirectories(platform.resolve(platformName())).resolve(VEC),
        StandardCopyOption.REPLACE_EXISTING);
    return true;
  }

  /** Whether {@link #installVec} has installed distance functions. */
  static boolean hasVec(Path platform) {
    return Files.exists(platform.resolve(platformName()).resolve(VEC));
  }

  private static String platformName() {
    String arch = System.getProperty("os.arch");
    return "linux-" + (arch.equals("amd64") ? "x64" : arch.toLowerCase(Locale.ROOT));
  }

  /** Searches the folders where Linux distributions keep libraries; returns null if none has it. */
  private static Path find(String name) throws IOException {
    Set<Path> folders = new LinkedHashSet<>();
    String path = System.getenv("LD_LIBRARY_PATH");
    for (String folder : (path == null ? "" : path).split(":")) {
      if (folder.isEmpty() == false) {
        folders.add(Path.of(folder));
      }
    }
    for (String root : List.of("/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib", "/lib")) {
      Path folder = Path.of(root);
      folders.add(folder);
      if (Files.isDirectory(folder)) {
        // Debian has one folder per platform, such as /usr/lib/x86_64-linux-gnu
        try (Stream<Path> inside = Files.list(folder)) {
          String arch = System.getProperty("os.arch").equals("amd64") ? "x86_64" : "aarch64";
          inside
              .filter(sub -> sub.getFileName().toString().startsWith(arch + "-linux"))
              .forEach(folders::add);
        }
      }
    }
    for (Path folder : folders) {
      Path library = folder.resolve(name);
      if (Files.isRegularFile(library)) {
        return library;
      }
    }
    return null;
  }
}
