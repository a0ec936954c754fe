package dev.vamana.tools.demo;

import dev.vamana.tools.callers.Callers.Times;
import java.util.List;

/**
 * Figures of one row; latencies and rates are measured at num_candidates {@value #NUM_CANDIDATES}.
 *
 * @param label the row's name
 * @param answeredBy who answered its queries
 * @param single one client
 * @param eight eight clients at the same time
 * @param sweep the points of the recall-latency plot
 * @param indexSeconds bulk requests, refresh and merge to one segment
 * @param bytes size on disk
 * @param segments number of segments
 */
record Figures(
    String label,
    String answeredBy,
    Times single,
    Times eight,
    List<Point> sweep,
    double indexSeconds,
    long bytes,
    int segments) {

  /** The {@code num_candidates} at which the rows are compared in one line. */
  static final int NUM_CANDIDATES = 100;

  /**
   * One row at one {@code num_candidates}.
   *
   * @param numCandidates what was asked for
   * @param recall recall@10
   * @param p50Millis median latency of one client, milliseconds
   * @param p99Millis 99th percentile of the latency of one client, milliseconds
   * @param hits ids of each query's hits, best first
   */
  record Point(
      int numCandidates, double recall, double p50Millis, double p99Millis, int[][] hits) {}

  /** The point of the sweep that the table shows. */
  Point point() {
    return sweep.get(Measurement.CANDIDATES.indexOf(NUM_CANDIDATES));
  }

  double recall() {
    return point().recall();
  }

  double p50Millis() {
    return single.quantile(0.5) * 1e-3;
  }

  double p99Millis() {
    return single.quantile(0.99) * 1e-3;
  }

  double megabytes() {
    return bytes / 1e6;
  }
}
