package dev.vamana.tools.benchmark;

import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** A way to build indexes; variants that share work, such as one graph, are one contender. */
interface Contender {

  /** The variants, as they are named in tables and in the option that chooses among them. */
  List<String> names();

  /**
   * Builds the wanted variants, single-threaded, and opens them for search.
   *
   * @param set what to index; row i of the base must come back from searches as i
   * @param wanted some of {@link #names}, at least one
   * @param folder an empty folder of its own
   */
  List<BuiltIndex> build(VectorSet set, Set<String> wanted, Path folder) throws IOException;
}
