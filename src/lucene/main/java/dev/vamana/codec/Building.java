package dev.vamana.codec;

import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.util.Objects;

/**
 * Holds everything that writing a segment needs and that all segments of a format share.
 *
 * @param parameters the parameters of graph and codes
 * @param workers the threads that builds use
 * @param memory bounds the native memory of graphs under construction
 * @param codebooks the shared codebooks
 * @param statistics counts graphs, codes and codebooks
 * @param centroids the centroids of lists written lately
 */
record Building(
    VamanaParameters parameters,
    Workers workers,
    MemoryBudget memory,
    CodebookProvider codebooks,
    BuildStatistics statistics,
    CentroidPool centroids) {

  Building {
    Objects.requireNonNull(parameters, "parameters");
    Objects.requireNonNull(workers, "workers");
    Objects.requireNonNull(memory, "memory");
    Objects.requireNonNull(codebooks, "codebooks");
    Objects.requireNonNull(statistics, "statistics");
    Objects.requireNonNull(centroids, "centroids");
  }
}
