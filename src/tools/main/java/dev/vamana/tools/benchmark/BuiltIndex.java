package dev.vamana.tools.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * One index, ready for searches.
 *
 * @param name name of the variant
 * @param graph cost of everything except product quantization
 * @param quantization cost of training and encoding, {@link BuildCost#NONE} if there is none or it
 *     cannot be separated
 * @param bytes size of the index on disk by file extension
 * @param searcher searches the index; the owner of this record closes it
 */
record BuiltIndex(
    String name,
    BuildCost graph,
    BuildCost quantization,
    SortedMap<String, Long> bytes,
    QuerySearcher searcher) {

  long totalBytes() {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }

  double peakHeapMb() {
    return Math.max(graph.peakHeapMb(), quantization.peakHeapMb());
  }

  /** Sums up file sizes by extension. */
  static SortedMap<String, Long> bytesByExtension(List<Path> files) throws IOException {
    SortedMap<String, Long> bytes = new TreeMap<>();
    for (Path file : files) {
      String name = file.getFileName().toString();
      String extension = name.substring(name.lastIndexOf('.') + 1);
      bytes.merge(extension, Files.size(file), Long::sum);
    }
    return bytes;
  }

  /** Lists the non-empty files of a folder, which leaves out Lucene's lock. */
  static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> all = files.filter(Files::isRegularFile).toList();
      List<Path> filled = new ArrayList<>();
      for (Path file : all) {
        if (Files.size(file) > 0) {
          filled.add(file);
        }
      }
      return filled;
    }
  }
}
