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
 * @param stock type of the stock index
 * @param rounds turns that each index has at each {@code num_candidates}
 * @param seconds length of a turn
 * @param warm length of a turn while both indices are warmed, each four times
 * @param heap the node's heap, such as {@code 4g}
 * @param out folder that receives the table and the points
 */
record CellsOptions(
    Path plugin,
    List<Path> sets,
    int limit,
    List<Integer> segments,
    List<Integer> clients,
    String stock,
    int rounds,
    double seconds,
    double warm,
    String heap,
    Path out) {

  private static final List<String> STOCK = List.of("hnsw", "int8_hnsw");

  private static final List<String> KNOWN =
      List.of(
          "plugin",
          "set",
          "limit",
          "segments",
          "clients",
          "stock",
          "rounds",
          "seconds",
          "warm",
          "heap",
          "out");

  /**
   * Reads arguments of the form {@code --name=value}; an empty value counts as absent.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static CellsOptions parse(String... arguments) {
    Arguments given = Arguments.parse(KNOWN, arguments);
    given.required("set", "folders of vectors, separated by commas");
    String stock = given.text("stock", "hnsw");
    if (STOCK.contains(stock) == false) {
      throw new IllegalArgumentException(
          "stock is '" + stock + "', allowed are " + String.join(" and ", STOCK));
    }
    return new CellsOptions(
        Path.of(given.required("plugin", "the plugin's zip")),
        given.list("set", List.of()).stream().map(Path::of).toList(),
        given.number("limit", 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
        given.numbers("segments", 1, List.of(1, 8, 40)),
        given.numbers("clients", 1, List.of(1, 8, 32, 64)),
        stock,
        given.number("rounds", 1, 1000, 7),
        given.positive("seconds", 3600, 0.2),
        given.positive("warm", 3600, 10),
        given.text("heap", "4g"),
        Path.of(given.text("out", "target/cells")));
  }
}
