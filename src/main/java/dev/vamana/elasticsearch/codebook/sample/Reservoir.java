package dev.vamana.elasticsearch.codebook.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A uniform sample of a stream of unknown length: every vector offered so far is in the sample with
 * the same probability. Not thread-safe.
 */
final class Reservoir {
  private int capacity;
  private final SplittableRandom random;
  private final List<float[]> rows = new ArrayList<>();
  private long seen;

  /** Makes an empty sample of at most {@code capacity} vectors, at least 1. */
  Reservoir(int capacity, long seed) {
    this.capacity = capacity;
    this.random = new SplittableRandom(seed);
  }

  /** Offers a vector. The array is not copied and must not change. */
  void offer(float[] vector) {
    seen++;
    if (rows.size() < capacity) {
      rows.add(vector);
      return;
    }
    long at = random.nextLong(seen);
    if (at < capacity) {
      rows.set((int) at, vector);
    }
  }

  /** Number of vectors offered. */
  long seen() {
    return seen;
  }

  /** Number of vectors held, at most the capacity. */
  int size() {
    return rows.size();
  }

  /** Keeps the sample at its present size, at least 1. */
  void stopGrowing() {
    capacity = rows.size();
  }

  /** Forgets all vectors offered so far. */
  void clear() {
    rows.clear();
    seen = 0;
  }

  int capacity() {
    return capacity;
  }

  /**
   * Returns the vectors in random order, so that every prefix is a uniform sample, too. The order
   * depends only on the seed until the next offer.
   */
  List<float[]> shuffled(long seed) {
    List<float[]> order = new ArrayList<>(rows);
    SplittableRandom dice = new SplittableRandom(seed);
    for (int i = order.size() - 1; i > 0; i--) {
      int j = dice.nextInt(i + 1);
      float[] moved = order.get(i);
      order.set(i, order.get(j));
      order.set(j, moved);
    }
    return order;
  }
}
