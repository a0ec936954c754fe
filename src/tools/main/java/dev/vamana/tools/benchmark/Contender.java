package dev.vamana.tools.benchmark;

import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * Builds indexes for the benchmark. Variants that share work, such as one graph, belong to one
 * contender.
 */
interface Contender {

  /** The names of the variants in tables and in the option {@code contenders}. */
  List<String> names();

  /**
   * Builds the chosen variants on one thread and opens them for searches.
   *
   * @param set what to index; searches must return row i of the base as i
   * @param wanted the variants to build, at least one of {@link #names}
   * @param folder an empty folder for the index files
   */
  List<BuiltIndex> build(VectorSet set, Set<String> wanted, Path folder) throws IOException;
}
