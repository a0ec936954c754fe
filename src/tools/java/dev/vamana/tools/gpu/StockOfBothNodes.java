package dev.vamana.tools.gpu;

import dev.vamana.tools.cells.GeometricMean;
import dev.vamana.tools.gpu.node.CellTrial;
import dev.vamana.tools.gpu.node.NodeParts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Compares the two nodes of a cell by their stock indices, which no GPU answers: the node with the
 * GPU has so many times the requests a second of the node with the GPU off. A ratio other than 1 is
 * chance, above all of what a JVM compiles after its start, or a cost of the GPU to the whole node.
 */
final class StockOfBothNodes {

  private final Map<List<Object>, Double> ratios = new LinkedHashMap<>();

  /**
   * Compares points of the same width.
   *
   * @param points rows of the report's section {@link CellsStage#POINTS}
   */
  StockOfBothNodes(List<Map<String, Object>> points) {
    Map<List<Object>, Map<Object, double[]>> byCell = new LinkedHashMap<>();
    for (Map<String, Object> point : points) {
      if (point.get("method").equals(CellTrial.STOCK)) {
        int node = point.get("placement").equals(NodeParts.OFF) ? 1 : 0;
        byCell.computeIfAbsent(cell(point), unseen -> new LinkedHashMap<>())
                .computeIfAbsent(point.get("beam"), unseen -> new double[2])[node] =
            ReportTables.real(point, "requests_per_second");
      }
    }
    byCell.forEach(
        (cell, byWidth) -> {
          List<Double> both = new ArrayList<>();
          for (double[] perSecond : byWidth.values()) {
            if (perSecond[0] > 0 && perSecond[1] > 0) {
              both.add(perSecond[0] / perSecond[1]);
            }
          }
          if (both.isEmpty() == false) {
            ratios.put(cell, GeometricMean.of(both));
          }
        });
  }

  private static List<Object> cell(Map<String, Object> row) {
    return List.of(
        row.get("set"),
        ReportTables.number(row, "n"),
        ReportTables.number(row, "segments"),
        ReportTables.number(row, "callers"));
  }

  /** Returns the ratio in the cell of a row; null if one of the nodes was not measured. */
  Double ratio(Map<String, Object> row) {
    return ratios.get(cell(row));
  }

  /** Returns how many cells have a ratio, their geometric mean, and how they scatter. */
  String summary() {
    if (ratios.size() < 2) {
      return "";
    }
    double mean = GeometricMean.of(ratios.values());
    double squares =
        ratios.values().stream().mapToDouble(r -> Math.pow(Math.log(r / mean), 2)).sum();
    return String.format(
        Locale.ROOT,
        "The stock index in both nodes (hnsw / hnsw): %.2f in the mean of %d cells, which scatter by %.0f %% (standard deviation).",
        mean,
        ratios.size(),
        100 * Math.sqrt(squares / (ratios.size() - 1)));
  }
}
