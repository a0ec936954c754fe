package dev.vamana.tools.gpu;

import dev.vamana.tools.plot.Axis;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.tools.plot.Scale;
import dev.vamana.tools.plot.Series;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/** Shows what segments of {@link LargeStage} cost by the number of their vectors. */
final class LargeTables {

  static final String PLOT = "gpu-large.svg";

  private static final String BUILD = "build";
  private static final List<String> SEARCHES = List.of("exact", "mapped-graph");

  private LargeTables() {}

  /** Returns a heading and tables; an empty string without rows. */
  static String of(List<Map<String, Object>> rows) {
    if (rows.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder("\n## Large segments\n\n");
    text.append(
        "One segment of generated vectors of 96 bytes, written by one merge."
            + " [How, and what more would need](../internals/large-segments.md).");
    if (plot(rows).isPresent()) {
      text.append(" [Plot](" + PLOT + ").");
    }
    text.append(
        "\n\n| vectors | max degree | build | graph | codes | on disk | heap | device |\n"
            + "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (Map<String, Object> row : sorted(rows)) {
      if (row.get("what").equals(BUILD)) {
        text.append(
            String.format(
                Locale.ROOT,
                "| %,d | %d | %.1f s | %.1f s | %.1f s | %.2f GB | %,.0f MB | %.1f GB |\n",
                ReportTables.number(row, "n"),
                ReportTables.number(row, "max_degree"),
                ReportTables.real(row, "seconds"),
                ReportTables.real(row, "graph_seconds"),
                ReportTables.real(row, "codes_seconds"),
                ReportTables.real(row, "disk_bytes") * 1e-9,
                ReportTables.real(row, "heap_bytes") * 1e-6,
                ReportTables.real(row, "device_bytes") * 1e-9));
      }
    }
    text.append(
        "\n| vectors | max degree | placement | parents | device | registered | beam | recall@10 |"
            + " batch | queries/s | one query |\n"
            + "| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (Map<String, Object> row : sorted(rows)) {
      if (row.get("what").equals(BUILD) == false) {
        text.append(
            String.format(
                Locale.ROOT,
                "| %,d | %d | %s | %s | %s | %s | %d | %.4f | %,d | %,.0f | %,.0f us |\n",
                ReportTables.number(row, "n"),
                ReportTables.number(row, "max_degree"),
                row.get("what"),
                row.getOrDefault("parents", ""),
                gigabytes(row.get("device_bytes")),
                gigabytes(row.get("pinned_bytes")),
                ReportTables.number(row, "beam"),
                ReportTables.real(row, "recall_at_10"),
                ReportTables.number(row, "batch"),
                ReportTables.real(row, "qps"),
                ReportTables.real(row, "p50_us_of_one")));
      }
    }
    return text.toString();
  }

  private static String gigabytes(Object bytes) {
    return bytes instanceof Number number
        ? String.format(Locale.ROOT, "%.2f GB", number.doubleValue() * 1e-9)
        : "";
  }

  private static List<Map<String, Object>> sorted(List<Map<String, Object>> rows) {
    return rows.stream()
        .sorted(Comparator.comparingInt(row -> ReportTables.number(row, "n")))
        .toList();
  }

  /** Returns the plot of cost by number of vectors; nothing if only one number was measured. */
  static Optional<LinePlot> plot(List<Map<String, Object>> rows) {
    TreeSet<Integer> sizes = new TreeSet<>();
    rows.forEach(row -> sizes.add(ReportTables.number(row, "n")));
    if (sizes.size() < 2) {
      return Optional.empty();
    }
    LinePlot plot =
        new LinePlot(
            "One segment as it grows, recall@10 of at least 0.95",
            Axis.of("vectors", Scale.LOG),
            Axis.of("seconds, GB, MB, microseconds, queries/ms", Scale.LOG));
    add(plot, rows, BUILD, "build, seconds", row -> ReportTables.real(row, "seconds"));
    add(plot, rows, BUILD, "files, GB", row -> ReportTables.real(row, "disk_bytes") * 1e-9);
    add(
        plot,
        rows,
        BUILD,
        "heap of a build, MB",
        row -> Math.max(1, ReportTables.real(row, "heap_bytes") * 1e-6));
    for (String search : SEARCHES) {
      add(
          plot,
          rows,
          search,
          search + ": one query, microseconds",
          row -> ReportTables.real(row, "p50_us_of_one"));
      add(plot, rows, search, search + ": queries/ms", row -> ReportTables.real(row, "qps") * 1e-3);
    }
    return Optional.of(plot);
  }

  /** Adds a line; of several rows of a size, such as of several numbers of parents, the lowest. */
  private static void add(
      LinePlot plot,
      List<Map<String, Object>> rows,
      String what,
      String name,
      ToDoubleFunction<Map<String, Object>> value) {
    boolean most = name.endsWith("queries/ms");
    TreeMap<Integer, Double> points = new TreeMap<>();
    for (Map<String, Object> row : rows) {
      if (row.get("what").equals(what)) {
        points.merge(
            ReportTables.number(row, "n"), value.applyAsDouble(row), most ? Math::max : Math::min);
      }
    }
    if (points.isEmpty() == false) {
      plot.add(
          new Series(
              name,
              points.keySet().stream().mapToDouble(Integer::doubleValue).toArray(),
              points.values().stream().mapToDouble(Double::doubleValue).toArray(),
              null));
    }
  }
}
