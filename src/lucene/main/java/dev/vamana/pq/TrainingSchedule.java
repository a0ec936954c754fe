package dev.vamana.pq;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Determines the rows, their order and the random numbers of a training. {@link PqTrainer} and
 * other {@link PqEngine}s follow it, so that trainings with the same sample and seed find the same
 * centroids.
 */
public final class TrainingSchedule {

  /** Most rows from which seeds are drawn, and least rows of a prefix. */
  public static final int POOL = 2048;

  private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

  private TrainingSchedule() {}

  /**
   * Iterations over a prefix of the rows.
   *
   * @param rows rows of the prefix, at least 1
   * @param iterations most iterations
   */
  public record Level(int rows, int iterations) {}

  /**
   * Returns the prefixes in order: each has twice the rows of the last one, and the final one has
   * all rows.
   *
   * @param n number of rows, 0 or more
   */
  public static List<Level> levels(int n, PqTrainer.Options options) {
    int halvings = 0;
    while (n >> (halvings + 1) >= POOL) {
      halvings++;
    }
    List<Level> levels = new ArrayList<>();
    for (int h = halvings; h > 0; h--) {
      levels.add(new Level(n >> h, options.levelIterations()));
    }
    if (n > 0) {
      levels.add(new Level(n, options.iterations()));
    }
    return levels;
  }

  /**
   * Returns the order of the rows, the same in all subspaces.
   *
   * @param seed seed of the training
   * @return for each place in the order, the row number in the sample
   */
  public static int[] order(int n, long seed) {
    int[] order = new int[n];
    for (int i = 0; i < n; i++) {
      order[i] = i;
    }
    shuffle(
        n,
        seed,
        (i, j) -> {
          int swap = order[i];
          order[i] = order[j];
          order[j] = swap;
        });
    return order;
  }

  /** Exchanges two rows. */
  @FunctionalInterface
  interface Swap {
    void swap(int i, int j);
  }

  /** Puts rows into the order that {@link #order} returns. */
  static void shuffle(int n, long seed, Swap rows) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = n - 1; i > 0; i--) {
      rows.swap(i, random.nextInt(i + 1));
    }
  }

  /**
   * Returns the seed of the {@link SplittableRandom} with which a subspace draws its centroids.
   * Only {@link SplittableRandom#nextDouble} is called on it.
   *
   * @param seed seed of the training
   */
  public static long seed(long seed, int subspace) {
    return seed + GOLDEN_GAMMA * (subspace + 1);
  }
}
