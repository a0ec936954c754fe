package dev.vamana.tools.batch;

import dev.vamana.tools.arguments.Arguments;
import dev.vamana.tools.datasets.Metric;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Options of the batch benchmark.
 *
 * @param plugin the plugin's zip
 * @param set folder of vectors
 * @param metric metric to use, or null for the set's own
 * @param limit most base vectors to index
 * @param vectors query vectors per request
 * @param k hits per query vector
 * @param candidates {@code num_candidates} per query vector
 * @param clients number of clients that send requests at the same time
 * @param rounds number of rounds; each kind of request has one turn per round
 * @param seconds length of a turn
 * @param heap heap of the node, such as {@code 2g}
 * @param settings further settings of the node
 * @param data folder that keeps the index for another run, or null
 * @param index further settings of the index
 * @param kinds kinds of requests
 * @param jvm further arguments of the node's JVM
 */
record BatchOptions(
    Path plugin,
    Path set,
    Metric metric,
    int limit,
    int vectors,
    int k,
    int candidates,
    int clients,
    int rounds,
    int seconds,
    String heap,
    Map<String, String> settings,
    Path data,
    Map<String, String> index,
    List<Kind> kinds,
    List<String> jvm) {

  private static final List<String> KNOWN =
      List.of(
          "plugin",
          "set",
          "metric",
          "limit",
          "vectors",
          "k",
          "candidates",
          "clients",
          "rounds",
          "seconds",
          "heap",
          "settings",
          "data",
          "index",
          "kinds",
          "jvm");

  /**
   * Reads arguments of the form {@code --name=value}; an empty value counts as absent.
   *
   * @throws IllegalArgumentException if an argument is unknown, malformed or missing
   */
  static BatchOptions parse(String... arguments) {
    Arguments given = Arguments.parse(KNOWN, arguments);
    String metric = given.text("metric", null);
    String data = given.text("data", null);
    int k = given.number("k", 1, 10_000, 10);
    return new BatchOptions(
        Path.of(given.required("plugin", "the plugin's zip")),
        Path.of(given.required("set", "folder of vectors")),
        metric == null ? null : Metric.of(metric),
        given.number("limit", 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
        given.number("vectors", 1, 10_000, 1000),
        k,
        given.number("candidates", k, 10_000, Math.max(k, 100)),
        given.number("clients", 1, 1000, 1),
        given.number("rounds", 1, 1000, 5),
        given.number("seconds", 1, 1000, 3),
        given.text("heap", "2g"),
        settings("settings", given.list("settings", List.of())),
        data == null ? null : Path.of(data),
        settings("index", given.list("index", List.of())),
        kinds(given.list("kinds", List.of())),
        given.list("jvm", List.of()));
  }

  private static List<Kind> kinds(List<String> given) {
    List<Kind> all = List.of(Kind.values());
    List<Kind> kinds = new ArrayList<>();
    for (String name : given) {
      kinds.add(
          all.stream()
              .filter(kind -> kind.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "kinds has '" + name + "', allowed are " + all)));
    }
    return kinds.isEmpty() ? all : kinds;
  }

  private static Map<String, String> settings(String option, List<String> given) {
    Map<String, String> settings = new LinkedHashMap<>();
    for (String setting : given) {
      String[] parts = setting.split("=", 2);
      if (parts.length < 2) {
        throw new IllegalArgumentException(
            option + " has '" + setting + "', allowed are name=value, separated by commas");
      }
      settings.put(parts[0].strip(), parts[1].strip());
    }
    return settings;
  }
}
