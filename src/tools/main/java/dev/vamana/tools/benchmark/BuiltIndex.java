package dev.vamana.tools.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * One index, ready for searches.
 *
 * @param name name of the variant
 * @param cost of the build, graph and codes
 * @param bytes size of the index on disk by file extension
 * @param searcher searches the index; the owner of this record closes it
 */
record BuiltIndex(
    String name, BuildCost cost, SortedMap<String, Long> bytes, QuerySearcher searcher) {

  long totalBytes() {
    return bytes.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Sums up sizes by extension, without empty files such as Lucene's lock. */
  static SortedMap<String, Long> bytesByExtension(Stream<Path> files) throws IOException {
    SortedMap<String, Long> bytes = new TreeMap<>();
    for (Path file : files.filter(Files::isRegularFile).toList()) {
      String name = file.getFileName().toString();
      bytes.merge(name.substring(name.lastIndexOf('.') + 1), Files.size(file), Long::sum);
    }
    bytes.values().removeIf(size -> size == 0);
    return bytes;
  }
}
