package dev.vamana.codec;

import dev.vamana.work.Workers;
import java.util.Objects;

/**
 * What writing segments takes, the same for all segments of a format.
 *
 * @param parameters how segments are written
 * @param workers threads that builds use
 * @param codebooks shared codebooks
 * @param statistics counts what is done
 */
record Building(
    VamanaParameters parameters,
    Workers workers,
    CodebookProvider codebooks,
    BuildStatistics statistics) {

  Building {
    Objects.requireNonNull(parameters, "parameters");
    Objects.requireNonNull(workers, "workers");
    Objects.requireNonNull(codebooks, "codebooks");
    Objects.requireNonNull(statistics, "statistics");
  }
}
