package dev.vamana.tools.gpu;

import dev.vamana.tools.plot.Axis;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.tools.plot.Scale;
import dev.vamana.tools.plot.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Makes tables and plots from a report. */
public final class ReportTables {

  private static final int LARGE = 10_000;

  /** Sections that have tables of their own, or none. */
  private static final Set<String> NOT_HERE =
      Set.of("benchmarks", LargeListsStage.GRAPH_SECTION, CellsStage.SECTION, CellsStage.POINTS);

  private static final int[] BATCHES = {1, 10, 100, 1_000, 10_000};

  private final Map<String, Object> report;
  private final List<Map<String, Object>> rows;

  /** A measured set with a number of vectors. */
  private record Measured(String set, int n, boolean all) {

    Measured(String set, int n, Map<String, Integer> largest) {
      this(set, n, n == largest.get(set));
    }

    /**
     * Returns the set's name, followed by the number of vectors unless it is the largest measured.
     */
    String name() {
      return all ? set : set + "-" + n;
    }

    boolean has(Map<String, Object> row) {
      return row.get("set").equals(set) && number(row, "n") == n;
    }
  }

  private ReportTables(Map<String, Object> report) {
    this.report = report;
    this.rows = Fragment.rows(report, "benchmarks");
  }

  /** Arguments: the report, and the folder for the pages and plots. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[1]);
    for (Map.Entry<String, String> file : make(Path.of(arguments[0])).entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
  }

  /**
   * Returns the contents of the files by name.
   *
   * @param report the report; its cells lie beside it, if there are any
   */
  static Map<String, String> make(Path report) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>(Fragment.read(report));
    Path cells = report.resolveSibling(ReportStage.CELLS_FILE);
    if (Files.exists(cells)) {
      Map<String, Object> measured = Fragment.read(cells);
      ReportStage.CELLS.forEach(section -> all.put(section, measured.get(section)));
    }
    ReportTables tables = new ReportTables(all);
    Map<String, String> files = tables.files();
    Path figures = report.resolveSibling(CagraTable.FIGURES);
    if (Files.exists(figures)) {
      String page = CagraTable.of(figures, tables.rows, tables.report.get("device").toString());
      if (page.isEmpty() == false) {
        files.put(CagraTable.PAGE, page);
      }
    }
    return files;
  }

  private Map<String, String> files() {
    Map<String, String> files = new TreeMap<>();
    StringBuilder text = new StringBuilder();
    text.append("# On the GPU\n\n")
        .append(
            format(
                "Measured on %s, driver %s, on %s, with the [GPU suite](../internals/gpu-suite.md)."
                    + " Made from [gpu-report.json](gpu-report.json),\n"
                    + "which has all samples, and [gpu-cells.json](gpu-cells.json).\n",
                report.get("device"), report.get("driver"), report.get("date")));
    appendEarlier(text);
    appendCorrectness(text);
    for (Measured set : sets()) {
      Optional<LinePlot> plot = plot(set);
      String file = "gpu-" + set.name() + ".svg";
      appendSet(text, set, plot.isPresent() ? " [Plot](" + file + ")." : "");
      plot.ifPresent(drawn -> files.put(file, drawn.toSvg()));
    }
    for (String section : ReportStage.SECTIONS) {
      if (section.equals(LargeStage.SECTION)) {
        List<Map<String, Object>> large = Fragment.rows(report, section);
        text.append(LargeTables.of(large));
        LargeTables.plots(large).forEach((file, drawn) -> files.put(file, drawn.toSvg()));
        List<Map<String, Object>> graphs = Fragment.rows(report, LargeListsStage.GRAPH_SECTION);
        text.append(LargeListsTables.of(large, graphs));
        LargeListsTables.plots(large, graphs)
            .forEach((file, drawn) -> files.put(file, drawn.toSvg()));
      } else if (NOT_HERE.contains(section) == false) {
        text.append(SectionTables.of(section, Fragment.rows(report, section)));
      }
    }
    files.put("gpu.md", text.toString());
    List<Map<String, Object>> cells = Fragment.rows(report, CellsStage.SECTION);
    List<Map<String, Object>> points = Fragment.rows(report, CellsStage.POINTS);
    files.put(CellsPage.PAGE, CellsPage.of(cells, points));
    return files;
  }

  /** Lists the earlier sources with which some rows were measured. */
  private void appendEarlier(StringBuilder text) {
    TreeSet<String> hashes = new TreeSet<>();
    for (String section : ReportStage.SECTIONS) {
      for (Map<String, Object> row : Fragment.rows(report, section)) {
        if (row.containsKey(ReportStage.SOURCES)) {
          hashes.add(mark(row));
        }
      }
    }
    if (hashes.isEmpty() == false) {
      text.append(
          format(
              "\nRows that name %s were measured with earlier sources, whose hash begins so. Rows that"
                  + " name a device were measured on that one.\n",
              String.join(", ", hashes)));
    }
  }

  /** Returns the short hash of a row's earlier sources; empty if it has none. */
  static String mark(Map<String, Object> row) {
    Object sources = row.get(ReportStage.SOURCES);
    return sources == null ? "" : "`" + sources.toString().substring(0, 8) + "`";
  }

  private void appendCorrectness(StringBuilder text) {
    Map<?, ?> correctness = (Map<?, ?>) report.get("correctness");
    text.append(
        format(
            "\nTests on the device: %d passed, %d failed, %d skipped.\n",
            size(correctness.get("passed")),
            size(correctness.get("failed")),
            size(correctness.get("skipped"))));
  }

  private static int size(Object list) {
    return ((List<?>) list).size();
  }

  private List<Measured> sets() {
    Map<String, Integer> largest = new HashMap<>();
    rows.forEach(row -> largest.merge(row.get("set").toString(), number(row, "n"), Math::max));
    return rows.stream()
        .map(row -> new Measured(row.get("set").toString(), number(row, "n"), largest))
        .distinct()
        .toList();
  }

  /** Returns the methods in the order of the report, each with its placement. */
  private List<String> lanes(Measured set) {
    return rows.stream().filter(set::has).map(ReportTables::lane).distinct().toList();
  }

  private static String lane(Map<String, Object> row) {
    String device = row.getOrDefault(ReportStage.DEVICE, "").toString();
    return (laneOfAnySources(row) + " " + device + " " + mark(row)).trim().replace("  ", " ");
  }

  private static String laneOfAnySources(Map<String, Object> row) {
    String method = row.get("method").toString();
    String placement = row.get("placement").toString();
    int callers = number(row, "callers");
    if (method.startsWith("lucene")) {
      return method + (callers == 1 ? ", 1 thread" : ", " + callers + " threads");
    }
    return method.equals("vamana-gpu") ? placement : method;
  }

  private void appendSet(StringBuilder text, Measured set, String plot) {
    Map<String, Object> any = rows.stream().filter(set::has).findFirst().orElseThrow();
    text.append(
        format(
            "\n## %s\n\n%,d vectors of dimension %d.%s\n",
            set.name(), set.n(), number(any, "dims"), plot));
    for (double target : BeamSweep.TARGETS) {
      text.append(
          format(
              "\nQueries per second at recall@10 of at least %.2f, by batch size; in brackets the"
                  + " beam:\n\n| | 1 (p50) |",
              target));
      for (int i = 1; i < BATCHES.length; i++) {
        text.append(format(" %,d |", BATCHES[i]));
      }
      text.append("\n| --- |").append(" ---: |".repeat(BATCHES.length)).append('\n');
      for (String lane : lanes(set)) {
        StringBuilder line = new StringBuilder("| " + lane + " |");
        boolean any1 = false;
        for (int batch : BATCHES) {
          Optional<Map<String, Object>> best = best(set, lane, batch, target);
          any1 |= best.isPresent();
          line.append(best.map(row -> " " + cell(row) + " |").orElse(" |"));
        }
        if (any1) {
          text.append(line).append('\n');
        }
      }
    }
  }

  private static String cell(Map<String, Object> row) {
    int beam = number(row, "beam");
    return format("%,.0f", real(row, "qps"))
        + (number(row, "batch") == 1 ? format(" (%,.0f us)", real(row, "p50_us")) : "")
        + (beam == 0 ? "" : " [" + beam + "]");
  }

  private Optional<Map<String, Object>> best(Measured set, String lane, int batch, double target) {
    return rows.stream()
        .filter(row -> set.has(row) && lane(row).equals(lane))
        .filter(row -> number(row, "batch") == batch && real(row, "recall_at_10") >= target)
        .max(Comparator.comparingDouble(row -> real(row, "qps")));
  }

  /** Plots speed over recall at the largest batch; for methods without batches, at one query. */
  private Optional<LinePlot> plot(Measured set) {
    LinePlot plot =
        new LinePlot(
            set.name() + ", batches of 10,000",
            new Axis("recall@10", Scale.NEAR_ONE, 0.8, 1.01),
            Axis.of("queries per second", Scale.LOG));
    boolean any = false;
    for (String lane : lanes(set)) {
      Map<Double, Map<String, Object>> front = new TreeMap<>();
      for (Map<String, Object> row : rows) {
        if (set.has(row)
            && lane(row).equals(lane)
            && (number(row, "batch") == LARGE || lane.startsWith("lucene"))
            && real(row, "recall_at_10") >= 0.8) {
          front.merge(
              real(row, "recall_at_10"), row, (a, b) -> real(a, "qps") >= real(b, "qps") ? a : b);
        }
      }
      List<Map<String, Object>> points = undominated(front);
      if (points.isEmpty() == false) {
        any = true;
        plot.add(
            new Series(
                lane,
                points.stream().mapToDouble(row -> real(row, "recall_at_10")).toArray(),
                points.stream().mapToDouble(row -> real(row, "qps")).toArray(),
                points.stream().map(row -> "beam " + row.get("beam")).toArray(String[]::new)));
      }
    }
    return any ? Optional.of(plot) : Optional.empty();
  }

  /** Returns the points that no point of higher recall beats in speed, by ascending recall. */
  private static List<Map<String, Object>> undominated(Map<Double, Map<String, Object>> front) {
    List<Map<String, Object>> points = new ArrayList<>();
    for (Map<String, Object> row : front.values()) {
      points.removeIf(kept -> real(kept, "qps") <= real(row, "qps"));
      points.add(row);
    }
    return points;
  }

  static int number(Map<String, Object> row, String key) {
    return ((Number) row.get(key)).intValue();
  }

  static double real(Map<String, Object> row, String key) {
    return ((Number) row.get(key)).doubleValue();
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
