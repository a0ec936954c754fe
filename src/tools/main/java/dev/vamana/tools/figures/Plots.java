package dev.vamana.tools.figures;

import dev.vamana.tools.cells.Median;
import dev.vamana.tools.plot.Axis;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.tools.plot.Scale;
import dev.vamana.tools.plot.Series;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The plots of a {@link Page}.
 *
 * @param page has the figures
 */
record Plots(Page page) {

  private static final String PLOTTED = "sift764k-bsds";

  private static void add(LinePlot plot, String name, Map<Double, Double> points) {
    if (points.isEmpty() == false) {
      plot.add(
          Series.of(
              name,
              points.keySet().stream().mapToDouble(Double::doubleValue).toArray(),
              points.values().stream().mapToDouble(Double::doubleValue).toArray()));
    }
  }

  /** Returns queries a second against recall; null without figures. */
  LinePlot recall() {
    List<Map<String, String>> all =
        page.rows(Sheet.GPU, row -> Page.isSearch(row) && row.get("set").equals(PLOTTED));
    if (all.isEmpty()) {
      return null;
    }
    LinePlot plot =
        new LinePlot(
            PLOTTED + ", queries of a call: 1, 100 and 10,000",
            Axis.of("recall@10", Scale.NEAR_ONE),
            Axis.of("queries/s", Scale.LOG));
    for (int batch : new int[] {1, 100, 10_000}) {
      for (String method : List.of("vamana-gpu exact", "lucene-m16-b100 cpu")) {
        Map<Double, Double> points = new TreeMap<>();
        for (Map<String, String> row : all) {
          if ((row.get("method") + " " + row.get("placement")).equals(method)
              && Page.best(List.of(row), batch) > 0) {
            points.merge(Page.number(row, "recall"), Page.number(row, "qps"), Math::max);
          }
        }
        add(plot, method + ", " + batch, points);
      }
      Map<Double, Double> points = new TreeMap<>();
      for (double recall : new double[] {0.95, 0.99}) {
        double speed = page.published(PLOTTED, batch, recall);
        if (Double.isFinite(speed)) {
          points.put(recall, speed);
        }
      }
      add(plot, "CAGRA, " + batch, points);
    }
    return plot;
  }

  /** Returns a node beside the stock index, by clients; null without figures. */
  LinePlot cells() {
    List<Map<String, String>> all = page.rows(Sheet.CELLS, row -> true);
    if (all.isEmpty()) {
      return null;
    }
    LinePlot plot =
        new LinePlot(
            "A node over HTTP: requests a second over the stock index, mean of all sets",
            Axis.of("clients", Scale.LOG),
            Axis.of("times", Scale.LINEAR));
    for (String ratio : List.of("gpu_over_hnsw", "cpu_over_hnsw", "cpu_over_bbq")) {
      for (String segments : Page.values(all, "segments")) {
        Map<Double, List<Double>> found = new TreeMap<>();
        for (Map<String, String> row : all) {
          if (row.get("segments").equals(segments) && Double.isFinite(Page.number(row, ratio))) {
            found
                .computeIfAbsent(Page.number(row, "clients"), unseen -> new ArrayList<>())
                .add(Page.number(row, ratio));
          }
        }
        Map<Double, Double> points = new TreeMap<>();
        found.forEach((clients, of) -> points.put(clients, Median.geometricMean(of)));
        add(plot, ratio.replace('_', ' ') + ", " + segments + " segments", points);
      }
    }
    return plot;
  }

  /** Returns times and speeds by the number of vectors; null with fewer than two numbers. */
  LinePlot scale() {
    List<Map<String, String>> searches = page.large(Sheet.GPU);
    if (Page.values(searches, "n").size() < 2) {
      return null;
    }
    LinePlot plot =
        new LinePlot(
            "One segment as it grows, recall@10 of at least 0.95",
            Axis.of("vectors", Scale.LOG),
            Axis.of("seconds, queries/ms", Scale.LOG));
    for (String method : Page.values(page.large(Sheet.BUILDS), "method")) {
      Map<Double, Double> points = new TreeMap<>();
      for (Map<String, String> row : page.large(Sheet.BUILDS)) {
        if (row.get("method").equals(method)) {
          points.put(Page.number(row, "n"), Page.number(row, "seconds"));
        }
      }
      add(plot, method + ": build, seconds", points);
    }
    Map<String, Map<Double, Double>> speeds = new LinkedHashMap<>();
    for (Map<String, String> row : searches) {
      if (Page.number(row, "batch") > 1) {
        speeds
            .computeIfAbsent(
                row.get("method") + " " + row.get("placement"), unseen -> new TreeMap<>())
            .merge(Page.number(row, "n"), Page.number(row, "qps") * 1e-3, Math::max);
      }
    }
    speeds.forEach((name, points) -> add(plot, name + ": queries/ms", points));
    return plot;
  }
}
