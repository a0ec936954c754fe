package dev.vamana.tools.cells;

import java.util.Arrays;
import java.util.List;

/**
 * One cell of the table: a set of vectors, a number of segments and a number of clients.
 *
 * @param set name of the set
 * @param vectors number of vectors
 * @param dimension components of each vector
 * @param segments segments of each index
 * @param clients clients at the same time
 * @param ours our curve
 * @param stock the stock index's curve
 */
record Cell(
    String set, int vectors, int dimension, int segments, int clients, Curve ours, Curve stock) {

  /** The recalls at which indices are compared. */
  static final List<Double> RECALLS = List.of(0.90, 0.95, 0.99);

  /** The comparisons at {@link #RECALLS}, in that order. */
  List<Comparison> comparisons() {
    return RECALLS.stream().map(recall -> Comparison.of(ours, stock, recall)).toList();
  }

  /** The geometric mean of all ratios in the cells; NaN without any. */
  static double mean(List<Cell> cells) {
    double[] logarithms =
        cells.stream()
            .flatMap(cell -> cell.comparisons().stream())
            .mapToDouble(Comparison::ratio)
            .filter(ratio -> Double.isNaN(ratio) == false)
            .map(Math::log)
            .toArray();
    return Math.exp(Arrays.stream(logarithms).average().orElse(Double.NaN));
  }
}
