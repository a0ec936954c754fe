package dev.vamana.elasticsearch.codebook.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A uniform sample of a stream of unknown length: every vector offered so far is in it with the
 * same probability. Used by one thread at a time.
 */
final class Reservoir {
  private final int capacity;
  private final SplittableRandom random;
  private final List<float[]> rows = new ArrayList<>();
  private long seen;

  /** An empty sample of at most {@code capacity} vectors, at least 1. */
  Reservoir(int capacity, long seed) {
    this.capacity = capacity;
    this.random = new SplittableRandom(seed);
  }

  /** Offers a vector, which is kept as it is and must not change. */
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

  /** Vectors offered. */
  long seen() {
    return seen;
  }

  /** Vectors held, at most the capacity. */
  int size() {
    return rows.size();
  }

  int capacity() {
    return capacity;
  }

  /**
   * The vectors in random order, so that any first part of them is a uniform sample too. Depends on
   * the seed alone as long as nothing is offered.
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
