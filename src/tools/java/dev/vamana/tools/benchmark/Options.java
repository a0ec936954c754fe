package dev.vamana.tools.benchmark;

import dev.vamana.tools.datasets.Metric;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What to run.
 *
 * @param set folder of vectors
 * @param out folder that receives the results
 * @param metric null for that of the set
 * @param limit base vectors to use at most
 * @param contenders names chosen, empty for the standard ones
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

  private static final Set<String> KNOWN =
      new TreeSet<>(List.of("set", "out", "metric", "limit", "contenders", "widths", "rounds"));

  /**
   * Reads arguments of the form {@code --name=value}; an empty value counts as absent.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static Options parse(String... arguments) {
    Map<String, String> values = new HashMap<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      String name = equals < 3 ? argument : argument.substring(2, equals);
      if (!argument.startsWith("--") || !KNOWN.contains(name)) {
        throw new IllegalArgumentException(
            "unknown argument '"
                + argument
                + "', allowed are --name=value with the names "
                + String.join(", ", KNOWN));
      }
      if (equals + 1 < argument.length()) {
        values.put(name, argument.substring(equals + 1));
      }
    }
    if (!values.containsKey("set")) {
      throw new IllegalArgumentException("set is missing: the folder of vectors, -Dset=<folder>");
    }
    String metric = values.get("metric");
    String contenders = values.get("contenders");
    return new Options(
        Path.of(values.get("set")),
        Path.of(values.getOrDefault("out", "target/benchmark")),
        metric == null ? null : Metric.of(metric),
        positive("limit", values.get("limit"), Integer.MAX_VALUE),
        contenders == null ? List.of() : Arrays.asList(contenders.split(",")),
        widths(values.get("widths")),
        positive("rounds", values.get("rounds"), 5));
  }

  private static List<Integer> widths(String value) {
    if (value == null) {
      return STANDARD_WIDTHS;
    }
    List<Integer> widths = new ArrayList<>();
    for (String width : value.split(",")) {
      widths.add(atLeast(SearchRounds.K, "widths", width));
    }
    return widths;
  }

  private static int positive(String name, String value, int standard) {
    return value == null ? standard : atLeast(1, name, value);
  }

  private static int atLeast(int lowest, String name, String value) {
    int number;
    try {
      number = Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          name + " is '" + value + "', allowed is a number >= " + lowest, e);
    }
    if (number < lowest) {
      throw new IllegalArgumentException(
          name + " is " + number + ", allowed is a number >= " + lowest);
    }
    return number;
  }
}
