package dev.vamana.tools.gpu;

import dev.vamana.tools.cells.Median;
import java.util.Arrays;
import java.util.List;

/**
 * Computes the report's figures from raw samples. Tests of the report recompute the figures with
 * it.
 */
final class Samples {

  private Samples() {}

  /**
   * Returns queries per second of callers that each wait for their batch before they send the next.
   * There are always as many batches in progress as callers, so by Little's law the throughput is
   * their number divided by the mean time.
   *
   * @param batch queries of a call
   * @param callers number of calling threads
   * @param microseconds time of each call, at least one
   */
  static double qps(int batch, int callers, double[] microseconds) {
    double mean = Arrays.stream(microseconds).average().orElseThrow();
    return batch * (double) callers * 1e6 / mean;
  }

  /** As {@link #median(double[])}. */
  static double median(List<Double> values) {
    return Median.of(values);
  }

  /** Returns the median; for an even count the mean of the two middle values. */
  static double median(double[] values) {
    return Median.of(values);
  }

  /** Rounds to a number of decimals, so that readers of the report recompute the same figures. */
  static double round(double value, int decimals) {
    double scale = Math.pow(10, decimals);
    return Math.round(value * scale) / scale;
  }

  static double[] round(double[] values, int decimals) {
    return Arrays.stream(values).map(value -> round(value, decimals)).toArray();
  }
}
