package dev.vamana.tools.gpu;

import dev.vamana.tools.cells.Comparison;
import dev.vamana.tools.cells.GeometricMean;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The page of standard searches beside the stock index, made from the report's comparisons. */
final class CellsPage {

  /** Name of the page. */
  static final String PAGE = "gpu-cells.md";

  private static final String EMPTY = "-";

  /** Compared pairs, as they are told: the method and the variant of their rows. */
  private static final Map<String, String> PAIRS = pairs();

  private CellsPage() {}

  private static Map<String, String> pairs() {
    Map<String, String> pairs = new LinkedHashMap<>();
    pairs.put("GPU / hnsw", "es-vamana-gpu over es-hnsw");
    pairs.put("GPU / int8", "es-vamana-gpu over es-int8-hnsw");
    pairs.put("GPU / CPU", "es-vamana-gpu over es-vamana-cpu");
    pairs.put("CPU / hnsw", "es-vamana-cpu over es-hnsw");
    pairs.put("CPU / int8", "es-vamana-cpu over es-int8-hnsw");
    return pairs;
  }

  private static String pair(Map<String, Object> row) {
    return row.get("method") + " " + row.get("variant");
  }

  /**
   * Returns the page.
   *
   * @param rows the report's section {@link CellsStage#SECTION}
   * @param points the report's section {@link CellsStage#POINTS}
   */
  static String of(List<Map<String, Object>> rows, List<Map<String, Object>> points) {
    StringBuilder page =
        new StringBuilder(
            """
            # Standard searches, by segments and clients

            One node, standard `knn` requests for 10 hits over HTTP. *GPU* is our index in a node with the GPU, *CPU* the same index with the
            GPU off, *hnsw* and *int8* the stock index of these types over the same vectors. Example: 1.20 under "GPU / hnsw" is a fifth more
            requests a second than the stock index at equal recall@10, both in turns in the same node. No figure should be below 0.95; those are
            bold, with the figures of each start of the nodes in brackets if there were several. The last column tells how much of a figure may be
            chance, or the node's: the stock index in the node with the GPU over the same index in the other node. Stage `cells-<set>` of the [GPU suite](../internals/gpu-suite.md#cells); the measured points are in
            [gpu-cells.json](gpu-cells.json), `cell_points`. [The same without a GPU](rest.md), measured by another command.
            """);
    if (rows.isEmpty()) {
      return page.append("\nNot measured yet.\n").toString();
    }
    StockOfBothNodes stock = new StockOfBothNodes(points);
    page.append('\n').append(summary(rows)).append('\n').append(stock.summary()).append('\n');
    Map<String, List<Map<String, Object>>> sets = new LinkedHashMap<>();
    for (Map<String, Object> row : rows) {
      sets.computeIfAbsent(
              text(
                  "%s, %,d vectors of %d dimensions",
                  row.get("set"), ReportTables.number(row, "n"), ReportTables.number(row, "dims")),
              unseen -> new ArrayList<>())
          .add(row);
    }
    sets.forEach((set, of) -> append(page, set, of, stock));
    return page.toString();
  }

  private static void append(
      StringBuilder page, String set, List<Map<String, Object>> rows, StockOfBothNodes stock) {
    page.append("\n## ")
        .append(set)
        .append("\n\n| segments | clients | recall | GPU, requests/s |");
    PAIRS.keySet().forEach(pair -> page.append(' ').append(pair).append(" |"));
    page.append(" hnsw / hnsw |");
    page.append("\n| ---: | ---: | ---: | ---: |").append(" ---: |".repeat(PAIRS.size() + 1));
    page.append('\n');
    Map<String, Map<String, Map<String, Object>>> lines = new TreeMap<>();
    for (Map<String, Object> row : rows) {
      lines
          .computeIfAbsent(
              text(
                  "%06d %06d %.2f",
                  ReportTables.number(row, "segments"),
                  ReportTables.number(row, "callers"),
                  ReportTables.real(row, "target")),
              unseen -> new LinkedHashMap<>())
          .put(pair(row), row);
    }
    for (Map<String, Map<String, Object>> line : lines.values()) {
      Map<String, Object> any = line.values().iterator().next();
      Map<String, Object> gpu = line.get(PAIRS.get("GPU / hnsw"));
      page.append(
          text(
              "| %d | %d | %.2f | %s |",
              ReportTables.number(any, "segments"),
              ReportTables.number(any, "callers"),
              ReportTables.real(any, "target"),
              gpu == null ? EMPTY : text("%,.0f", ReportTables.real(gpu, "requests_per_second"))));
      for (String pair : PAIRS.values()) {
        page.append(' ').append(ratio(line.get(pair))).append(" |");
      }
      Double nodes = stock.ratio(any);
      page.append(' ').append(nodes == null ? EMPTY : text("%.2f", nodes)).append(" |");
      page.append('\n');
    }
  }

  private static String ratio(Map<String, Object> row) {
    if (row == null) {
      return EMPTY;
    }
    double ratio = ReportTables.real(row, "ratio");
    double recall = ReportTables.real(row, "recall");
    return (ratio < Comparison.RULE ? text("**%.2f**", ratio) + starts(row) : text("%.2f", ratio))
        + (recall > ReportTables.real(row, "target") ? text(" (at %.3f)", recall) : "")
        + (ReportTables.mark(row).isEmpty() ? "" : " " + ReportTables.mark(row));
  }

  private static String starts(Map<String, Object> row) {
    return row.get(CellsStage.BY_START) instanceof List<?> ratios
        ? ratios.stream()
            .map(ratio -> text("%.2f", ((Number) ratio).doubleValue()))
            .collect(Collectors.joining(", ", " [", "]"))
        : "";
  }

  /**
   * Returns the geometric mean of each pair's ratios and how many are too low. Rows of one cell
   * that were raised to the same recall count once.
   */
  static String summary(List<Map<String, Object>> rows) {
    List<String> parts = new ArrayList<>();
    PAIRS.forEach(
        (name, pair) -> {
          Map<List<Object>, Double> ratios = new LinkedHashMap<>();
          for (Map<String, Object> row : rows) {
            if (pair(row).equals(pair)) {
              ratios.put(
                  List.of(
                      row.get("set"),
                      ReportTables.number(row, "n"),
                      ReportTables.number(row, "segments"),
                      ReportTables.number(row, "callers"),
                      ReportTables.real(row, "recall")),
                  ReportTables.real(row, "ratio"));
            }
          }
          if (ratios.isEmpty() == false) {
            parts.add(
                text(
                    "%s %.2f (%d of %d below %.2f)",
                    name,
                    GeometricMean.of(ratios.values()),
                    ratios.values().stream().filter(ratio -> ratio < Comparison.RULE).count(),
                    ratios.size(),
                    Comparison.RULE));
          }
        });
    return parts.isEmpty() ? "" : "Geometric means: " + String.join(", ", parts) + ".";
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
