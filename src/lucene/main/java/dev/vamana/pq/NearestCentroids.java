package dev.vamana.pq;

import java.util.Arrays;

/**
 * Finds the nearest of any number of centroids for a few vectors at a time. Each passes over the
 * centroids while the processor's first cache holds them. Immutable; each thread has a finder of
 * its own.
 *
 * <p>It keeps a copy of the centroids on the heap, of 4 bytes a component. Distances are added up
 * component by component without fused multiply-add, as on the device, so both find the same.
 */
public final class NearestCentroids {

  /** Vectors that a finder takes at a time. */
  public static final int ROWS = 8;

  // components of 256 centroids that are passed at a time: 16 KB
  private static final int DEPTH = 16;

  private static final int TOGETHER = CentroidKernels.CENTROIDS;

  // floats of the widest vector instructions: the last block has a multiple of them
  private static final int LANES = 16;

  private final int dims;
  // component d of centroid 256 b + c is columns[b][d][c]
  private final float[][][] columns;

  /**
   * Copies centroids.
   *
   * @param centroids at least one, all of the same dimension
   */
  public NearestCentroids(float[][] centroids) {
    dims = centroids[0].length;
    columns = new float[Math.ceilDiv(centroids.length, TOGETHER)][dims][];
    for (int block = 0; block < columns.length; block++) {
      int from = block * TOGETHER;
      int count = Math.min(TOGETHER, centroids.length - from);
      for (int d = 0; d < dims; d++) {
        float[] column = new float[Math.ceilDiv(count, LANES) * LANES];
        columns[block][d] = column;
        for (int c = 0; c < count; c++) {
          column[c] = centroids[from + c][d];
        }
        // farther than all others
        Arrays.fill(column, count, column.length, Float.POSITIVE_INFINITY);
      }
    }
  }

  /** Returns a finder for one thread. */
  public Finder finder() {
    return new Finder();
  }

  /** Finds the centroids nearest to up to {@link #ROWS} vectors, for one thread. */
  public final class Finder {

    private final float[][] rows = new float[ROWS][dims];
    private final float[][] squares = new float[ROWS][TOGETHER];
    private final float[] scratch = new float[TOGETHER / 2];
    private final int[] nearest = new int[ROWS];
    private final float[] distances = new float[ROWS];

    private Finder() {}

    /** Returns the array that receives the components of vector {@code i}. */
    public float[] row(int i) {
      return rows[i];
    }

    /** Finds the centroids nearest to the first {@code count} vectors. */
    public void find(int count) {
      Arrays.fill(distances, Float.POSITIVE_INFINITY);
      Arrays.fill(nearest, 0);
      for (int block = 0; block < columns.length; block++) {
        measure(columns[block], count);
        int width = columns[block][0].length;
        for (int i = 0; i < count; i++) {
          // columns of the last block may be shorter
          Arrays.fill(squares[i], width, TOGETHER, Float.POSITIVE_INFINITY);
          int least = CentroidKernels.argmin(squares[i], scratch);
          if (squares[i][least] < distances[i]) {
            distances[i] = squares[i][least];
            nearest[i] = block * TOGETHER + least;
          }
        }
      }
    }

    private void measure(float[][] block, int count) {
      int first = dims % DEPTH == 0 ? DEPTH : dims % DEPTH;
      for (int i = 0; i < count; i++) {
        CentroidKernels.squaredDistances(block, 0, first, rows[i], 0, squares[i]);
      }
      for (int from = first; from < dims; from += DEPTH) {
        for (int i = 0; i < count; i++) {
          CentroidKernels.addSquaredDistances(block, from, DEPTH, rows[i], from, squares[i]);
        }
      }
    }

    /** Returns the centroid nearest to vector {@code i}; the lowest of equally near ones. */
    public int nearest(int i) {
      return nearest[i];
    }

    /** Returns the squared distance of vector {@code i} to it. */
    public float distance(int i) {
      return distances[i];
    }
  }
}
