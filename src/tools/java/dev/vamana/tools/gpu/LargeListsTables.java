package dev.vamana.tools.gpu;

import dev.vamana.tools.plot.Axis;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.tools.plot.Scale;
import dev.vamana.tools.plot.Series;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Shows what inverted lists over many vectors cost, and their speed beside the graph's. */
final class LargeListsTables {

  static final String PLOT = "gpu-large-lists.svg";
  private static final String CURVE = "curve";
  // the size of the plot, if it was measured; else the largest
  private static final int PLOTTED = 10_000_000;

  private LargeListsTables() {}

  /**
   * Returns a heading and tables; an empty string without rows of lists.
   *
   * @param large rows of the section of large segments
   * @param graphs rows of the graphs beside the lists
   */
  static String of(List<Map<String, Object>> large, List<Map<String, Object>> graphs) {
    List<Map<String, Object>> rows =
        LargeTables.sorted(large.stream().filter(LargeTables::isOfLists).toList());
    if (rows.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder("\n## Lists over large segments\n\n");
    text.append("The same vectors, in one segment with [inverted lists](../internals/ivf.md).");
    if (plots(large, graphs).isEmpty() == false) {
      text.append(" [Speed over recall](" + PLOT + ").");
    }
    text.append(
        "\n\n| vectors | lists | build | lists with codes | on disk | of lists | heap | device |\n"
            + "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (Map<String, Object> row : rows) {
      if (row.get("what").equals(LargeTables.BUILD)) {
        text.append(
            String.format(
                Locale.ROOT,
                "| %,d | %,d | %.1f s | %.1f s | %.2f GB | %.2f GB | %,.0f MB | %.1f GB |\n",
                ReportTables.number(row, "n"),
                ReportTables.number(row, "lists"),
                ReportTables.real(row, "seconds"),
                ReportTables.real(row, "list_seconds"),
                ReportTables.real(row, "disk_bytes") * 1e-9,
                ReportTables.real(row, "list_bytes") * 1e-9,
                ReportTables.real(row, "heap_bytes") * 1e-6,
                ReportTables.real(row, "device_bytes") * 1e-9));
      }
    }
    text.append(
        "\n| vectors | method | placement | device | registered | candidates | recall@10 | lists |"
            + " scored | batch | queries/s | one query |\n"
            + "| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    List<Map<String, Object>> searches = new ArrayList<>(rows);
    searches.addAll(LargeTables.sorted(graphs));
    for (Map<String, Object> row : searches) {
      if (row.containsKey("target")) {
        text.append(
            String.format(
                Locale.ROOT,
                "| %,d | %s | %s | %s | %s | %d | %.4f | %s | %s | %,d | %,.0f | %,.0f us |\n",
                ReportTables.number(row, "n"),
                row.get("method"),
                row.get("what"),
                LargeTables.gigabytes(row.get("device_bytes")),
                LargeTables.gigabytes(row.get("pinned_bytes")),
                ReportTables.number(row, "beam"),
                ReportTables.real(row, "recall_at_10"),
                row.getOrDefault("lists_searched", ""),
                row.getOrDefault("scored", ""),
                ReportTables.number(row, "batch"),
                ReportTables.real(row, "qps"),
                ReportTables.real(row, "p50_us_of_one")));
      }
    }
    return text.toString();
  }

  /**
   * Returns the plot of speed over recall by the name of its file; nothing without curves of lists.
   *
   * @param large rows of the section of large segments
   * @param graphs rows of the graphs beside the lists
   */
  static Map<String, LinePlot> plots(
      List<Map<String, Object>> large, List<Map<String, Object>> graphs) {
    List<Map<String, Object>> curves = new ArrayList<>();
    for (List<Map<String, Object>> rows : List.of(large, graphs)) {
      rows.stream()
          .filter(row -> row.containsKey("method") && row.containsKey(CURVE))
          .forEach(curves::add);
    }
    int n =
        curves.stream()
            .filter(LargeTables::isOfLists)
            .mapToInt(row -> ReportTables.number(row, "n"))
            .reduce(0, (a, b) -> a == PLOTTED || (b != PLOTTED && a > b) ? a : b);
    if (n == 0) {
      return Map.of();
    }
    LinePlot plot =
        new LinePlot(
            String.format(Locale.ROOT, "Lists and graph over %,d vectors of 96 bytes", n),
            Axis.of("recall@10", Scale.NEAR_ONE),
            Axis.of("queries/s", Scale.LOG));
    for (Map<String, Object> row : curves) {
      if (ReportTables.number(row, "n") == n) {
        add(plot, row.get("method") + ", " + row.get("what"), points(row));
      }
    }
    return Map.of(PLOT, plot);
  }

  /** Returns queries per second by recall; wider searches that find no more are left out. */
  private static TreeMap<Double, Double> points(Map<String, Object> row) {
    TreeMap<Double, Double> points = new TreeMap<>();
    for (Object point : (List<?>) row.get(CURVE)) {
      Map<?, ?> values = (Map<?, ?>) point;
      double recall = ((Number) values.get("recall_at_10")).doubleValue();
      points.putIfAbsent(recall, ((Number) values.get("qps")).doubleValue());
    }
    return points;
  }

  private static void add(LinePlot plot, String name, TreeMap<Double, Double> points) {
    if (points.isEmpty() == false) {
      plot.add(
          Series.of(
              name,
              points.keySet().stream().mapToDouble(Double::doubleValue).toArray(),
              points.values().stream().mapToDouble(Double::doubleValue).toArray()));
    }
  }
}
