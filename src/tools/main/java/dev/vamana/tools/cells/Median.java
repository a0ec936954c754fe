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

  /** Returns the geometric mean of ratios: 2 and 0.5 have the mean 1. At least one. */
  public static double geometricMean(Collection<Double> ratios) {
    return Math.exp(ratios.stream().mapToDouble(Math::log).average().orElseThrow());
  }

  /** As {@link #of(double[])}. */
  public static double of(Collection<Double> values) {
    return of(values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
