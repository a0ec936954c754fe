package dev.vamana.tools.groundtruth;

import dev.vamana.tools.arguments.Arguments;
import dev.vamana.tools.datasets.ExactSearch;
import dev.vamana.tools.datasets.Metric;
import java.nio.file.Path;

/**
 * Options of the ground truth tool.
 *
 * @param base file of the vectors to search
 * @param queries file of the query vectors
 * @param metric the metric that defines near
 * @param depth neighbours per query, at least 1
 * @param out path and start of the names of the output files
 * @param device ordinal of the GPU, or -1 for the CPU
 */
record GroundTruthOptions(Path base, Path queries, Metric metric, int depth, Path out, int device) {

  /**
   * Reads arguments of the form {@code --name=value}.
   *
   * @throws IllegalArgumentException if an argument is unknown, malformed or missing
   */
  static GroundTruthOptions parse(String... arguments) {
    Arguments given = Arguments.parse(arguments);
    return given.checked(
        new GroundTruthOptions(
            Path.of(
                given.required("base", "the file of vectors to search, .fvecs, .bvecs or .npy")),
            Path.of(given.required("queries", "the file of queries, .fvecs, .bvecs or .npy")),
            Metric.of(given.text("metric", Metric.L2.label())),
            given.number("k", 1, ExactSearch.MAX_CANDIDATES - ExactSearch.MARGIN, 100),
            Path.of(given.required("out", "path and start of the names of the output files")),
            given.number("device", -1, Integer.MAX_VALUE, 0)));
  }
}
