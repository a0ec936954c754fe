package dev.vamana.tools.gpu;

import dev.vamana.tools.plot.Axis;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.tools.plot.Scale;
import dev.vamana.tools.plot.Series;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** Shows what segments of {@link LargeStage} cost by the number of their vectors. */
final class LargeTables {

  private static final String TIME = "gpu-large.svg";
  private static final String MEMORY = "gpu-large-memory.svg";

  /** What a row of a build is called. */
  static final String BUILD = "build";

  private static final List<String> SEARCHES = List.of("exact", "mapped-graph");

  private LargeTables() {}

  /** Whether a row is of inverted lists rather than of a graph. */
  static boolean isOfLists(Map<String, Object> row) {
    return String.valueOf(row.get("method")).startsWith(ListsStage.METHOD);
  }

  private static List<Map<String, Object>> ofGraphs(List<Map<String, Object>> rows) {
    return rows.stream().filter(row -> isOfLists(row) == false).toList();
  }

  /** Returns a heading and tables; an empty string without rows of graphs. */
  static String of(List<Map<String, Object>> all) {
    List<Map<String, Object>> rows = ofGraphs(all);
    if (rows.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder("\n## Large segments\n\n");
    text.append(
        "One segment of generated vectors of 96 bytes, written by one merge."
            + " [How, and what more would need](../internals/large-segments.md).");
    if (plots(rows).isEmpty() == false) {
      text.append(" Plots: [time](" + TIME + "), [memory](" + MEMORY + ").");
    }
    text.append("\n\n");
    table(
        text,
        "| vectors | max degree | build | graph | codes | on disk | heap | device |\n"
            + "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        "| %,d | %d | %.1f s | %.1f s | %.1f s | %.2f GB | %,.0f MB | %.1f GB |\n",
        rows.stream().filter(row -> row.get("what").equals(BUILD)),
        row ->
            new Object[] {
              ReportTables.number(row, "n"),
              ReportTables.number(row, "max_degree"),
              ReportTables.real(row, "seconds"),
              ReportTables.real(row, "graph_seconds"),
              ReportTables.real(row, "codes_seconds"),
              ReportTables.real(row, "disk_bytes") * 1e-9,
              ReportTables.real(row, "heap_bytes") * 1e-6,
              ReportTables.real(row, "device_bytes") * 1e-9
            });
    text.append('\n');
    table(
        text,
        "| vectors | max degree | subspaces | placement | variant | parents | device | registered |"
            + " beam | recall@10 | batch | queries/s | one query |\n"
            + "| ---: | ---: | ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
            + " ---: |\n",
        "| %,d | %d | %s | %s | %s | %s | %s | %s | %d | %.4f | %,d | %,.0f | %,.0f us |\n",
        rows.stream().filter(row -> row.get("what").equals(BUILD) == false),
        row ->
            new Object[] {
              ReportTables.number(row, "n"),
              ReportTables.number(row, "max_degree"),
              row.getOrDefault("subspaces", LargeSet.DIMENSION / 4),
              row.get("what"),
              row.getOrDefault("variant", ""),
              row.getOrDefault("parents", ""),
              gigabytes(row.get("device_bytes")),
              gigabytes(row.get("pinned_bytes")),
              ReportTables.number(row, "beam"),
              ReportTables.real(row, "recall_at_10"),
              ReportTables.number(row, "batch"),
              ReportTables.real(row, "qps"),
              ReportTables.real(row, "p50_us_of_one")
            });
    return text.toString();
  }

  /** Adds a table, by the number of vectors. */
  private static void table(
      StringBuilder text,
      String head,
      String format,
      Stream<Map<String, Object>> rows,
      Function<Map<String, Object>, Object[]> cells) {
    text.append(head);
    for (Map<String, Object> row : sorted(rows.toList())) {
      text.append(String.format(Locale.ROOT, format, cells.apply(row)));
    }
  }

  static String gigabytes(Object bytes) {
    return bytes instanceof Number number
        ? String.format(Locale.ROOT, "%.2f GB", number.doubleValue() * 1e-9)
        : "";
  }

  static List<Map<String, Object>> sorted(List<Map<String, Object>> rows) {
    return rows.stream()
        .sorted(Comparator.comparingInt(row -> ReportTables.number(row, "n")))
        .toList();
  }

  /**
   * Returns plots of time and of memory by the number of vectors, by the names of their files;
   * nothing if only one number was measured.
   */
  static Map<String, LinePlot> plots(List<Map<String, Object>> all) {
    List<Map<String, Object>> rows = ofGraphs(all);
    Map<String, LinePlot> plots = new TreeMap<>();
    if (rows.stream().map(row -> row.get("n")).distinct().count() > 1) {
      plots.put(TIME, time(rows));
      plots.put(MEMORY, memory(rows));
    }
    return plots;
  }

  private static LinePlot time(List<Map<String, Object>> rows) {
    LinePlot plot =
        new LinePlot(
            "One segment as it grows, recall@10 of at least 0.95",
            Axis.of("vectors", Scale.LOG),
            Axis.of("seconds, microseconds, queries/ms", Scale.LOG));
    add(plot, rows, BUILD, "build, seconds", row -> ReportTables.real(row, "seconds"));
    for (String search : SEARCHES) {
      String name = search + ": one query, microseconds";
      add(plot, rows, search, name, row -> ReportTables.real(row, "p50_us_of_one"));
      add(plot, rows, search, search + ": queries/ms", row -> ReportTables.real(row, "qps") * 1e-3);
    }
    return plot;
  }

  private static LinePlot memory(List<Map<String, Object>> rows) {
    LinePlot plot =
        new LinePlot(
            "Memory of one segment as it grows",
            Axis.of("vectors", Scale.LOG),
            Axis.of("MB", Scale.LOG));
    add(plot, rows, BUILD, "files", row -> megabytes(row, "disk_bytes"));
    add(plot, rows, BUILD, "build: heap", row -> megabytes(row, "heap_bytes"));
    add(plot, rows, BUILD, "build: device", row -> megabytes(row, "device_bytes"));
    for (String search : SEARCHES) {
      add(plot, rows, search, search + ": device", row -> megabytes(row, "device_bytes"));
    }
    String mapped = SEARCHES.get(1);
    add(plot, rows, mapped, mapped + ": registered", row -> megabytes(row, "pinned_bytes"));
    return plot;
  }

  /** At least 1, for the logarithm. */
  private static double megabytes(Map<String, Object> row, String column) {
    return Math.max(1, ReportTables.real(row, column) * 1e-6);
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
