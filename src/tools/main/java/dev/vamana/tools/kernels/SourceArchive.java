package dev.vamana.tools.kernels;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** The archive from which a node compiles kernels for a device that no image serves. */
final class SourceArchive {

  private static final List<String> FOLDERS = List.of("include", "nvrtc", "src");
  private static final LocalDateTime TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  private SourceArchive() {}

  /**
   * Writes the archive, with the same bytes for the same sources.
   *
   * @param sources the folder {@code native-kernels}
   */
  static void write(Path sources, Path archive) throws IOException {
    try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
      for (String folder : FOLDERS) {
        try (Stream<Path> files = Files.walk(sources.resolve(folder))) {
          for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
            ZipEntry entry = new ZipEntry(sources.relativize(file).toString().replace('\\', '/'));
            entry.setTimeLocal(TIME);
            zip.putNextEntry(entry);
            Files.copy(file, zip);
            zip.closeEntry();
          }
        }
      }
    }
  }
}
