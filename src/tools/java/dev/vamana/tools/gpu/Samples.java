package dev.vamana.tools.gpu;

import java.util.Arrays;

/** How figures of the report follow from raw samples; tests of the report recompute them here. */
final class Samples {

  private Samples() {}

  /**
   * Queries per second of callers that each wait for their batch before they send the next: so many
   * batches are always under way, and by Little's law their number over the mean time is the
   * throughput.
   *
   * @param batch queries of a call
   * @param callers threads that call
   * @param microseconds one a call, at least one
   */
  static double qps(int batch, int callers, double[] microseconds) {
    double mean = Arrays.stream(microseconds).average().orElseThrow();
    return batch * (double) callers * 1e6 / mean;
  }

  /** Median; of an even count the mean of the middle two. */
  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /**
   * Rounded to a number of decimals, so that what the report says is what its reader recomputes.
   */
  static double round(double value, int decimals) {
    double scale = Math.pow(10, decimals);
    return Math.round(value * scale) / scale;
  }

  static double[] round(double[] values, int decimals) {
    return Arrays.stream(values).map(value -> round(value, decimals)).toArray();
  }
}
