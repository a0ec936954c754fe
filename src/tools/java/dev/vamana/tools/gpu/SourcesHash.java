package dev.vamana.tools.gpu;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The hash that ties a report to the sources it was measured with: of all files under the kernels,
 * the GPU packages, the seam, the launcher and the benchmark code.
 */
public final class SourcesHash {

  /** Folders, relative to the checkout, whose files count. */
  static final List<String> FOLDERS =
      List.of(
          "native-kernels",
          "src/main/java/dev/vamana/cuda",
          "src/main/java/dev/vamana/search",
          "src/gpu-suite",
          "src/tools/java/dev/vamana/tools/gpu");

  private SourcesHash() {}

  /** Prints the hash of the checkout that the only argument names. */
  public static void main(String[] arguments) throws IOException {
    System.out.println(of(Path.of(arguments[0])));
  }

  /**
   * Hashes paths and contents, in the order of the paths.
   *
   * @param checkout the project's root folder
   * @return 64 hexadecimal digits
   */
  static String of(Path checkout) throws IOException {
    SortedMap<String, Path> files = new TreeMap<>();
    for (String folder : FOLDERS) {
      try (Stream<Path> found = Files.walk(checkout.resolve(folder))) {
        for (Path file : found.filter(Files::isRegularFile).toList()) {
          files.put(checkout.relativize(file).toString().replace('\\', '/'), file);
        }
      }
    }
    MessageDigest digest = sha256();
    for (String name : files.keySet()) {
      byte[] content = Files.readAllBytes(files.get(name));
      digest.update((name + "\n" + content.length + "\n").getBytes(StandardCharsets.UTF_8));
      digest.update(content);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}
