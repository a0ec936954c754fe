package dev.vamana.tools.demo;

import java.util.Arrays;

/** Durations of requests, in the order in which they are added. Not safe for several threads. */
public final class Latencies {

  private long[] nanos = new long[1024];
  private int size;

  void add(long duration) {
    if (size == nanos.length) {
      nanos = Arrays.copyOf(nanos, 2 * size);
    }
    nanos[size++] = duration;
  }

  void addAll(Latencies others) {
    for (int i = 0; i < others.size; i++) {
      add(others.nanos[i]);
    }
  }

  /** Number of requests. */
  public int size() {
    return size;
  }

  /**
   * The duration that a share of the requests did not exceed (nearest rank).
   *
   * @param share from above 0 to 1
   * @return milliseconds, NaN without requests
   */
  public double quantileMillis(double share) {
    if (size == 0) {
      return Double.NaN;
    }
    long[] sorted = Arrays.copyOf(nanos, size);
    Arrays.sort(sorted);
    int rank = (int) Math.ceil(share * size);
    return sorted[Math.max(rank, 1) - 1] / 1e6;
  }
}
