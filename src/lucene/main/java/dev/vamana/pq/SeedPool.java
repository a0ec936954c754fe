package dev.vamana.pq;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The rows from which k-means++ draws seeds: each is drawn with probability proportional to its
 * squared distance to the nearest centroid so far. Rows are stored as columns, so that the
 * distances to a new centroid are computed in one vectorized pass.
 */
final class SeedPool {

  private final int capacity;
  private final float[][] columns;
  private final float[] nearest;
  private final float[] distances;
  private int size;

  SeedPool(int capacity, int maxLength) {
    this.capacity = capacity;
    this.columns = new float[maxLength][capacity];
    this.nearest = new float[capacity];
    this.distances = new float[capacity];
  }

  void clear() {
    size = 0;
  }

  boolean isFull() {
    return size == capacity;
  }

  /**
   * Adds a row.
   *
   * @param distance squared distance to the nearest centroid so far, infinite when there is none
   */
  void add(float[] rows, int from, int length, float distance) {
    for (int d = 0; d < length; d++) {
      columns[d][size] = rows[from + d];
    }
    nearest[size++] = distance;
  }

  /** Draws a row, or returns -1 if every row coincides with a centroid. */
  int draw(SplittableRandom random) {
    double total = 0;
    for (int i = 0; i < size; i++) {
      total += nearest[i];
    }
    if (total == 0) {
      return -1;
    }
    double target = random.nextDouble() * total;
    int last = -1;
    for (int i = 0; i < size; i++) {
      if (nearest[i] > 0) {
        last = i;
        target -= nearest[i];
        if (target < 0) {
          break;
        }
      }
    }
    return last;
  }

  /** Makes {@code row} the centroid {@code c} and updates the distances of all rows. */
  void take(int row, int length, float[][] centroidColumns, int c) {
    Arrays.fill(distances, 0, size, 0);
    for (int d = 0; d < length; d++) {
      float x = columns[d][row];
      centroidColumns[d][c] = x;
      addSquares(x, columns[d], distances, size);
    }
    lower(nearest, distances, size);
    // also if rounding left a positive value: no row is drawn twice
    nearest[row] = 0;
  }

  private static void addSquares(float x, float[] column, float[] sums, int n) {
    for (int i = 0; i < n; i++) {
      float difference = x - column[i];
      sums[i] += difference * difference;
    }
  }

  private static void lower(float[] values, float[] candidates, int n) {
    for (int i = 0; i < n; i++) {
      values[i] = Math.min(values[i], candidates[i]);
    }
  }
}
