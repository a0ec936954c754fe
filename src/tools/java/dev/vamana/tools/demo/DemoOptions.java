package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.Metric;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * What the demo is to do.
 *
 * @param plugin the plugin's zip
 * @param set folder of vectors, null to generate images
 * @param metric null for that of the set
 * @param limit base vectors to use at most
 * @param queries queries to use at most
 * @param side side length in pixels of square images that the vectors are, 0 if they are none or it
 *     is to be seen from the set
 * @param keep whether the node stays up afterwards
 * @param port the node's HTTP port, 0 for a free one
 * @param heap the node's heap, such as {@code 1g}
 * @param out folder that receives the report
 */
record DemoOptions(
    Path plugin,
    Path set,
    Metric metric,
    int limit,
    int queries,
    int side,
    boolean keep,
    int port,
    String heap,
    Path out) {

  /** Where a node that stays up listens unless another port is given. */
  static final int KEEP_PORT = 9253;

  private static final Set<String> KNOWN =
      new TreeSet<>(
          List.of(
              "plugin", "set", "metric", "limit", "queries", "side", "keep", "port", "heap",
              "out"));

  /**
   * Reads arguments of the form {@code --name=value}; an empty value counts as absent.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static DemoOptions parse(String... arguments) {
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
    if (!values.containsKey("plugin")) {
      throw new IllegalArgumentException("plugin is missing: the plugin's zip");
    }
    boolean keep = bool("keep", values.getOrDefault("keep", "false"));
    return new DemoOptions(
        Path.of(values.get("plugin")),
        values.containsKey("set") ? Path.of(values.get("set")) : null,
        values.containsKey("metric") ? Metric.of(values.get("metric")) : null,
        number("limit", values, 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
        number("queries", values, 1, Integer.MAX_VALUE, 1000),
        number("side", values, 1, 64, 0),
        keep,
        number("port", values, 1, 65535, keep ? KEEP_PORT : 0),
        values.getOrDefault("heap", "1g"),
        Path.of(values.getOrDefault("out", "target/demo")));
  }

  private static boolean bool(String name, String value) {
    if (!Arrays.asList("true", "false").contains(value)) {
      throw new IllegalArgumentException(name + " is '" + value + "', allowed are true and false");
    }
    return value.equals("true");
  }

  private static int number(
      String name, Map<String, String> values, int lowest, int highest, int standard) {
    String value = values.get(name);
    if (value == null) {
      return standard;
    }
    String allowed = ", allowed is a whole number in [" + lowest + ", " + highest + "]";
    try {
      int number = Integer.parseInt(value);
      if (number >= lowest && number <= highest) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " is '" + value + "'" + allowed, e);
    }
    throw new IllegalArgumentException(name + " is " + value + allowed);
  }
}
