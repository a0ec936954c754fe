package dev.vamana.tools.demo;

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
    Load.Result single,
    Load.Result eight,
    List<Sweep.Point> sweep,
    double indexSeconds,
    long bytes,
    int segments) {

  /** The {@code num_candidates} at which the rows are compared in one line. */
  static final int NUM_CANDIDATES = 100;

  /** The point of the sweep that the table shows. */
  Sweep.Point point() {
    return sweep.get(Sweep.CANDIDATES.indexOf(NUM_CANDIDATES));
  }

  double recall() {
    return point().recall();
  }

  double p50Millis() {
    return single.latencies().quantileMillis(0.5);
  }

  double p99Millis() {
    return single.latencies().quantileMillis(0.99);
  }

  double megabytes() {
    return bytes / 1e6;
  }
}
