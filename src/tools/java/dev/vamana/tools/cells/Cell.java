package dev.vamana.tools.cells;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

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

  /**
   * The comparisons in which both reached the recall, one for each recall: several wanted ones may
   * have been raised to the same.
   */
  List<Comparison> distinct() {
    Map<Double, Comparison> byRecall = new TreeMap<>();
    comparisons().stream()
        .filter(comparison -> Double.isNaN(comparison.ratio()) == false)
        .forEach(comparison -> byRecall.putIfAbsent(comparison.recall(), comparison));
    return List.copyOf(byRecall.values());
  }
}
