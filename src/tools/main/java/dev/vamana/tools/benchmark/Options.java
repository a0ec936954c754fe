package dev.vamana.tools.benchmark;

import dev.vamana.tools.arguments.Arguments;
import dev.vamana.tools.datasets.Metric;
import java.nio.file.Path;
import java.util.List;

/**
 * Options of the benchmark.
 *
 * @param set folder of vectors
 * @param out folder for the results
 * @param metric metric to use, or null for the set's own
 * @param limit most base vectors to index
 * @param contenders chosen contenders, empty for the default ones
 * @param widths beam widths, each at least {@value SearchRounds#K}
 * @param rounds timed passes at each width
 */
record Options(
    Path set,
    Path out,
    Metric metric,
    int limit,
    List<String> contenders,
    List<Integer> widths,
    int rounds) {

  static final List<Integer> STANDARD_WIDTHS =
      List.of(10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320);

  /**
   * Reads arguments of the form {@code --name=value}; an empty value counts as absent.
   *
   * @throws IllegalArgumentException if an argument is unknown, malformed or missing
   */
  static Options parse(String... arguments) {
    Arguments given = Arguments.parse(arguments);
    String metric = given.text("metric", null);
    return given.checked(
        new Options(
            Path.of(given.required("set", "the folder of vectors")),
            Path.of(given.text("out", "target/benchmark")),
            metric == null ? null : Metric.of(metric),
            given.number("limit", 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
            given.list("contenders", List.of()),
            given.numbers("widths", SearchRounds.K, STANDARD_WIDTHS),
            given.number("rounds", 1, Integer.MAX_VALUE, 5)));
  }
}
