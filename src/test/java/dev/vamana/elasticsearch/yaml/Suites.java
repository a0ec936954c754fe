package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Files of tests in a folder. */
public final class Suites {
  private Suites() {}

  /**
   * A file.
   *
   * @param name relative to the folder, without its ending
   * @param path where it is
   */
  public record File(String name, Path path) {

    /** Reads the file; see {@link Suite#parse}. */
    public Suite read() throws IOException {
      return Suite.parse(name, Files.readString(path));
    }
  }

  /** All files that end in {@code .yml}, in folders inside of the folder too, by name. */
  public static List<File> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> file.toString().endsWith(".yml"))
          .sorted()
          .map(file -> new File(name(folder, file), file))
          .toList();
    }
  }

  private static String name(Path folder, Path file) {
    String name = folder.relativize(file).toString();
    return name.substring(0, name.lastIndexOf('.'));
  }
}
