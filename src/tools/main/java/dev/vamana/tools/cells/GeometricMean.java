package dev.vamana.tools.cells;

import java.util.Collection;

/** The mean of ratios. Example: 2 and 0.5 have the mean 1. */
public final class GeometricMean {

  private GeometricMean() {}

  /** Returns the geometric mean of positive values. At least one. */
  public static double of(Collection<Double> values) {
    return Math.exp(values.stream().mapToDouble(Math::log).average().orElseThrow());
  }
}
