package dev.vamana.tools.gpu;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a process of the suite does.
 *
 * @param home folder of data sets, indexes and results
 * @param stage name of the stage
 * @param placements names of placements to measure; empty for all
 * @param batches batch sizes
 * @param seconds time spent on each measured point
 * @param limit base vectors of a set to use at most
 * @param device ordinal of the GPU, or -1 to let the CPU stand in for it, which checks the suite
 */
record SuiteOptions(
    Path home,
    String stage,
    List<String> placements,
    List<Integer> batches,
    double seconds,
    int limit,
    int device) {

  private static final Set<String> KNOWN =
      new TreeSet<>(
          List.of("home", "stage", "placements", "batches", "seconds", "limit", "device"));

  /**
   * Reads arguments of the form {@code --name=value}.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static SuiteOptions parse(String... arguments) {
    Map<String, String> values = new HashMap<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      String name = equals < 3 ? argument : argument.substring(2, equals);
      if (argument.startsWith("--") == false || KNOWN.contains(name) == false) {
        throw new IllegalArgumentException(
            "unknown argument '" + argument + "', allowed are --name=value with " + KNOWN);
      }
      values.put(name, argument.substring(equals + 1));
    }
    for (String needed : List.of("home", "stage")) {
      if (values.containsKey(needed) == false) {
        throw new IllegalArgumentException("--" + needed + "=... is missing");
      }
    }
    return new SuiteOptions(
        Path.of(values.get("home")),
        values.get("stage"),
        list(values.getOrDefault("placements", "")),
        list(values.getOrDefault("batches", "1,10,100,1000,10000")).stream()
            .map(batch -> number("batches", batch, 1))
            .toList(),
        seconds(values.getOrDefault("seconds", "0.4")),
        number("limit", values.getOrDefault("limit", "" + Integer.MAX_VALUE), 1),
        number("device", values.getOrDefault("device", "0"), -1));
  }

  private static List<String> list(String value) {
    return Arrays.stream(value.split(",")).filter(part -> part.isEmpty() == false).toList();
  }

  private static int number(String name, String value, int lowest) {
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

  private static double seconds(String value) {
    try {
      double seconds = Double.parseDouble(value);
      if (seconds > 0 && seconds < 1000) {
        return seconds;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "seconds is '" + value + "', allowed is a number above 0 and below 1000", e);
    }
    throw new IllegalArgumentException(
        "seconds is " + value + ", allowed is a number above 0 and below 1000");
  }
}
