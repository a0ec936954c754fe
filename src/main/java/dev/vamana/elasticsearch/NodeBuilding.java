package dev.vamana.elasticsearch;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.pq.SharedCodebook;
import java.util.function.Function;

/**
 * What the shards of a node share when they write segments.
 *
 * @param threads most threads that build one graph
 * @param statistics counts what all of them build
 * @param codebooks gives the newest version of a shared codebook by its name, or null if this node
 *     has none yet; answers from memory
 */
record NodeBuilding(
    int threads, BuildStatistics statistics, Function<String, SharedCodebook> codebooks) {}
