package dev.vamana.tools.cells;

import dev.vamana.tools.arguments.Arguments;
import java.nio.file.Path;
import java.util.List;

/**
 * Options of the comparison.
 *
 * @param plugin the plugin's zip
 * @param sets folders of vectors
 * @param limit base vectors of each set to use at most
 * @param segments numbers of segments
 * @param clients numbers of clients at the same time
 * @param seconds length of a turn
 * @param starts how often nodes are started for each number of segments
 * @param heap the node's heap, such as {@code 4g}
 * @param out folder that receives the CSV files
 */
record CellsOptions(
    Path plugin,
    List<Path> sets,
    int limit,
    List<Integer> segments,
    List<Integer> clients,
    double seconds,
    int starts,
    String heap,
    Path out) {

  /**
   * Reads arguments of the form {@code --name=value}; an empty value counts as absent.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static CellsOptions parse(String... arguments) {
    Arguments given = Arguments.parse(arguments);
    given.required("set", "folders of vectors, separated by commas");
    return given.checked(
        new CellsOptions(
            Path.of(given.text("plugin", System.getProperty("vamana.plugin"))),
            given.list("set", List.of()).stream().map(Path::of).toList(),
            given.number("limit", 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
            given.numbers("segments", 1, List.of(1, 8, 40)),
            given.numbers("clients", 1, List.of(1, 8, 32, 64)),
            given.positive("seconds", 3600, 0.4),
            given.number("starts", 1, 10, 2),
            given.text("heap", "4g"),
            Path.of(given.text("out", "target/cells"))));
  }
}
