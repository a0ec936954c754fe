package dev.vamana.elasticsearch.index;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CentroidPool;
import dev.vamana.pq.SharedCodebook;
import java.util.function.Function;

/**
 * The parts that all shards of a node share when they write segments.
 *
 * @param threads most threads that build one graph
 * @param memory native memory of graphs under construction
 * @param statistics counts what all shards build
 * @param codebooks returns the newest version of the shared codebook with a name, or null if this
 *     node has none yet; answers from memory
 * @param centroids the centroids of inverted lists of all indices
 */
public record NodeBuilding(
    int threads,
    BuildMemory memory,
    BuildStatistics statistics,
    Function<String, SharedCodebook> codebooks,
    CentroidPool centroids) {

  /** Name of the thread pool that builds graphs. */
  public static final String POOL = "vamana_build";
}
