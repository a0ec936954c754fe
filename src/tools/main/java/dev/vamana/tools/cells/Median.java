package dev.vamana.tools.cells;

import java.util.Arrays;
import java.util.Collection;

/** The middle of measured values, which a few disturbed ones do not move. */
public final class Median {

  private Median() {}

  /** Returns the median; for an even count the mean of the two middle values. At least one. */
  public static double of(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** As {@link #of(double[])}. */
  public static double of(Collection<Double> values) {
    return of(values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
