package dev.vamana.pq;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Which rows a training works on, in which order and with which random numbers: all that has to be
 * agreed on for trainings of the same sample and seed to come to the same centroids.
 */
public final class TrainingSchedule {

  /** Most rows that seeds are drawn from, and the fewest of a prefix. */
  public static final int POOL = 2048;

  private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;
  private static final long RESTART_GAMMA = 0x632BE59BD9B4E019L;

  private TrainingSchedule() {}

  /**
   * Some iterations over a prefix of the rows.
   *
   * @param rows of the prefix, at least 1
   * @param iterations most iterations
   */
  public record Level(int rows, int iterations) {}

  /**
   * The prefixes to work on, one after the other: each has twice the rows of the one before, the
   * last one all.
   *
   * @param n rows there are, 0 or more
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
   * The order of the rows, the same in all subspaces.
   *
   * @param seed of the training
   * @return for each place in the order the number of the sample's row
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

  /** Puts rows into the order that {@link #order} tells. */
  static void shuffle(int n, long seed, Swap rows) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = n - 1; i > 0; i--) {
      rows.swap(i, random.nextInt(i + 1));
    }
  }

  /**
   * The seed of the {@link SplittableRandom} that a subspace draws its centroids with. Only {@link
   * SplittableRandom#nextDouble} is asked of it.
   *
   * @param seed of the training
   * @param restart how many times the subspace was trained before, 0 for the first
   */
  public static long seed(long seed, int subspace, int restart) {
    return seed + GOLDEN_GAMMA * (subspace + 1) + RESTART_GAMMA * restart;
  }
}
