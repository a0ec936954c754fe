package dev.vamana.tools.gpu;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The hash that ties a report to the sources it was measured with: all files of the kernels, the
 * GPU and search packages, the launcher and the suite.
 */
public final class SourcesHash {

  /** Folders, relative to the checkout, whose files are hashed. */
  static final List<String> FOLDERS =
      List.of(
          "native-kernels",
          "src/main/java/dev/vamana/cuda",
          "src/main/java/dev/vamana/search",
          "src/gpu-suite",
          "src/tools/java/dev/vamana/tools/gpu");

  private SourcesHash() {}

  /** Prints the manifest of a checkout, whose path is the only argument. */
  public static void main(String[] arguments) throws IOException {
    System.out.print(manifest(Path.of(arguments[0])));
  }

  /**
   * Returns one line per file, ordered by path, in the format of {@code sha256sum}.
   *
   * @param checkout the project's root folder
   */
  static String manifest(Path checkout) throws IOException {
    SortedMap<String, Path> files = new TreeMap<>();
    for (String folder : FOLDERS) {
      try (Stream<Path> found = Files.walk(checkout.resolve(folder))) {
        for (Path file : found.filter(Files::isRegularFile).toList()) {
          files.put(checkout.relativize(file).toString().replace('\\', '/'), file);
        }
      }
    }
    StringBuilder lines = new StringBuilder();
    for (Map.Entry<String, Path> file : files.entrySet()) {
      lines.append(hex(Files.readAllBytes(file.getValue())));
      lines.append("  ").append(file.getKey()).append('\n');
    }
    return lines.toString();
  }

  /** Returns the hash of a manifest, which covers all its files: 64 hexadecimal digits. */
  static String of(String manifest) {
    return hex(manifest.getBytes(StandardCharsets.UTF_8));
  }

  private static String hex(byte[] content) {
    return HexFormat.of().formatHex(sha256().digest(content));
  }

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java has SHA-256", e);
    }
  }
}
