package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.tools.cells.GeometricMean;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Puts the report's walks beside figures of cuVS' CAGRA, which {@code gpu-cagra.csv} beside the
 * report has with their source and date.
 */
final class CagraTable {

  /** Name of the file of figures. */
  static final String FIGURES = "gpu-cagra.csv";

  /** Name of the page. */
  static final String PAGE = "gpu-cagra.md";

  /** Column of rows of copies in bytes that are the vectors. */
  static final String WHOLE = "whole_copies";

  private static final String EXACT = Placement.EXACT.settingName();
  private static final Set<String> VECTORS =
      Set.of(EXACT, Placement.EXACT_FLOAT16.settingName(), Placement.EXACT_INT8.settingName());

  private CagraTable() {}

  /**
   * One line of the file.
   *
   * @param best the fastest of CAGRA's types of vectors
   */
  private record Figure(
      String set, double recall, int batch, int callers, double best, String type) {

    static Figure parse(String line) {
      String[] cells = line.split(",", -1);
      double best = 0;
      String type = "";
      List<String> types = List.of("float32", "float16", "bytes");
      for (int i = 0; i < types.size(); i++) {
        double qps = cells[4 + i].isEmpty() ? 0 : Double.parseDouble(cells[4 + i]);
        if (qps > best) {
          best = qps;
          type = types.get(i);
        }
      }
      return new Figure(
          cells[0],
          Double.parseDouble(cells[1]),
          Integer.parseInt(cells[2]),
          Integer.parseInt(cells[3]),
          best,
          type);
    }
  }

  /**
   * Returns the page; an empty text if the report has no walk at any of the figures' points.
   *
   * @param benchmarks the report's benchmarks
   * @param device the report's device; only rows of a device that the figures' first line names are
   *     compared
   */
  static String of(Path figures, List<Map<String, Object>> benchmarks, String device)
      throws IOException {
    List<String> lines = Files.readAllLines(figures);
    List<Map<String, Object>> rows =
        benchmarks.stream()
            .filter(
                row -> names(lines.get(0), row.getOrDefault(ReportStage.DEVICE, device).toString()))
            .toList();
    StringBuilder table = new StringBuilder();
    List<Double> ofExact = new ArrayList<>();
    List<Double> ofUsual = new ArrayList<>();
    for (String line : lines.subList(2, lines.size())) {
      Figure figure = Figure.parse(line);
      OptionalDouble exact = fastest(rows, figure, Set.of(EXACT));
      String placement = usual(benchmarks, figure);
      OptionalDouble usual = fastest(rows, figure, Set.of(placement));
      OptionalDouble any = fastest(rows, figure, VECTORS);
      if (exact.isEmpty() || usual.isEmpty() || any.isEmpty()) {
        continue;
      }
      ofExact.add(exact.getAsDouble() / figure.best());
      ofUsual.add(usual.getAsDouble() / figure.best());
      table.append(
          format(
              "| %s | %.2f | %,d × %d | %,.0f (%s) | %,.0f | %.2f | %,.0f (%s) | %.2f | %,.0f"
                  + " |\n",
              figure.set(),
              figure.recall(),
              figure.batch(),
              figure.callers(),
              figure.best(),
              figure.type(),
              exact.getAsDouble(),
              exact.getAsDouble() / figure.best(),
              usual.getAsDouble(),
              placement,
              usual.getAsDouble() / figure.best(),
              any.getAsDouble()));
    }
    if (ofExact.isEmpty()) {
      return "";
    }
    return "# Beside CAGRA\n\nCAGRA: "
        + lines.get(0).substring(2)
        + " ([all types](gpu-cagra.csv)).\n"
        + "This project: rows of the [report](gpu.md), from arrays to arrays, interpolated likewise;"
        + " the fastest number of parents. The batch's\n"
        + "queries are all different. Machines are of the same kind, not the same hour.\n\n"
        + "* `exact` holds float32 vectors.\n"
        + "* \"Default\" is the [placement](../internals/gpu-memory.md#placing-segments) that a"
        + " segment gets if nothing is set and the device has ample room: `exact-int8`\n"
        + format(
            "  with %d dimensions or more, or if all components are integers from 0 to 255;"
                + " otherwise `exact`.",
            Placement.WIDE)
        + " Both are measured with the raw vectors on the device, so `exact-int8` re-ranks from there.\n"
        + "* \"Best\" is the fastest of `exact`, `exact-float16` and `exact-int8`. All answer with"
        + " exact scores.\n\n"
        + "| over CAGRA | geometric mean | at worst | points below 1 |\n"
        + "| --- | ---: | ---: | ---: |\n"
        + summary("exact", ofExact)
        + summary("default", ofUsual)
        + "\n| set | recall@10 | batch × callers | CAGRA, fastest type | exact | exact over CAGRA |"
        + " default | default over CAGRA | best |\n"
        + "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        + table
        + others(lines, benchmarks, device);
  }

  /** Returns a section for each device that the figures' first line does not name. */
  private static String others(
      List<String> lines, List<Map<String, Object>> benchmarks, String device) {
    Map<String, List<Map<String, Object>>> byDevice = new TreeMap<>();
    for (Map<String, Object> row : benchmarks) {
      String name = row.getOrDefault(ReportStage.DEVICE, device).toString();
      if (names(lines.get(0), name) == false) {
        byDevice.computeIfAbsent(name, unseen -> new ArrayList<>()).add(row);
      }
    }
    StringBuilder sections = new StringBuilder();
    byDevice.forEach((name, rows) -> sections.append(other(name, lines, benchmarks, rows)));
    return sections.toString();
  }

  private static String other(
      String device,
      List<String> lines,
      List<Map<String, Object>> benchmarks,
      List<Map<String, Object>> rows) {
    StringBuilder table = new StringBuilder();
    List<Double> ratios = new ArrayList<>();
    for (String line : lines.subList(2, lines.size())) {
      Figure figure = Figure.parse(line);
      String placement = usual(benchmarks, figure);
      OptionalDouble usual = fastest(rows, figure, Set.of(placement));
      if (usual.isPresent()) {
        double ratio = usual.getAsDouble() / figure.best();
        ratios.add(ratio);
        table.append(
            format(
                "| %s | %.2f | %,d × %d | %,.0f | %,.0f (%s) | %.2f |\n",
                figure.set(),
                figure.recall(),
                figure.batch(),
                figure.callers(),
                figure.best(),
                usual.getAsDouble(),
                placement,
                ratio));
      }
    }
    if (ratios.isEmpty()) {
      return "";
    }
    return format("\n## On %s\n\n", device)
        + "CAGRA was not measured on this device; its figures are the ones above.\n\n"
        + "| over CAGRA | geometric mean | at worst | points below 1 |\n"
        + "| --- | ---: | ---: | ---: |\n"
        + summary("default", ratios)
        + "\n| set | recall@10 | batch × callers | CAGRA, fastest type | default |"
        + " default over CAGRA |\n"
        + "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        + table;
  }

  private static String summary(String name, List<Double> ratios) {
    return format(
        "| %s | %.2f | %.2f | %d of %d |\n",
        name,
        GeometricMean.of(ratios),
        ratios.stream().mapToDouble(Double::doubleValue).min().orElseThrow(),
        ratios.stream().filter(ratio -> ratio < 1).count(),
        ratios.size());
  }

  /** Returns the placement that the figure's set gets without settings. */
  private static String usual(List<Map<String, Object>> rows, Figure figure) {
    int dimension =
        rows.stream()
            .filter(row -> row.get("set").equals(figure.set()))
            .mapToInt(row -> ReportTables.number(row, "dims"))
            .max()
            .orElse(1);
    boolean whole =
        rows.stream()
            .anyMatch(row -> row.get("set").equals(figure.set()) && row.containsKey(WHOLE));
    return (whole ? Placement.EXACT_INT8 : Placement.usual(dimension)).settingName();
  }

  /** Whether a text has a word of a device's name that has a digit, for instance H200. */
  private static boolean names(String text, String device) {
    List<String> words = List.of(text.split("[ ,]+"));
    return Stream.of(device.split(" "))
        .anyMatch(word -> word.chars().anyMatch(Character::isDigit) && words.contains(word));
  }

  /**
   * Returns the queries a second at the figure's recall, of the fastest way to search. Beams of one
   * placement, one number of parents and one run are a way.
   */
  private static OptionalDouble fastest(
      List<Map<String, Object>> rows, Figure figure, Set<String> placements) {
    Map<List<Object>, List<Map<String, Object>>> ways =
        rows.stream()
            .filter(
                row ->
                    row.get("method").equals("vamana-gpu")
                        && placements.contains(row.get("placement").toString())
                        && row.get("set").equals(figure.set())
                        && ReportTables.number(row, "batch") == figure.batch()
                        && ReportTables.number(row, "callers") == figure.callers())
            .collect(
                Collectors.groupingBy(
                    row ->
                        Arrays.asList(
                            row.get("placement"),
                            row.get("parents"),
                            row.get(ReportStage.SOURCES))));
    return ways.values().stream()
        .map(way -> at(way, figure.recall()))
        .flatMapToDouble(OptionalDouble::stream)
        .max();
  }

  /**
   * Returns the queries a second of a way at a recall. Between two beams the logarithm of speed is
   * linear in recall, as in CAGRA's figures. Where even the narrowest beam finds more, its speed is
   * taken.
   */
  private static OptionalDouble at(List<Map<String, Object>> way, double recall) {
    Map<String, Object> below = null;
    for (Map<String, Object> row :
        way.stream().sorted(Comparator.comparingDouble(CagraTable::recall)).toList()) {
      if (recall(row) < recall) {
        below = row;
      } else if (below == null) {
        return OptionalDouble.of(ReportTables.real(row, "qps"));
      } else {
        double share = (recall - recall(below)) / (recall(row) - recall(below));
        double from = Math.log(ReportTables.real(below, "qps"));
        double to = Math.log(ReportTables.real(row, "qps"));
        return OptionalDouble.of(Math.exp(from + share * (to - from)));
      }
    }
    return OptionalDouble.empty();
  }

  private static double recall(Map<String, Object> row) {
    return ReportTables.real(row, "recall_at_10");
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
