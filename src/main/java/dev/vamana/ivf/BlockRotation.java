package dev.vamana.ivf;

import dev.vamana.pq.SubspaceLayout;
import java.util.Arrays;

/**
 * A rotation that was trained, for product quantization: a matrix for each block of components.
 * Blocks are whole subspaces, as many as fit {@value #MOST} components, so that a vector costs
 * {@value #MOST} multiplications a component at most, and training does not grow with the cube of
 * the dimension. Vectors of {@value #MOST} components or fewer have one block.
 *
 * <p>A row vector x becomes {@code x M} in each block. Components behind the dimension are 0.
 */
public final class BlockRotation implements VectorRotation {

  /** Most components of a block, unless one subspace has more. */
  public static final int MOST = 128;

  // rows that are added in one pass
  private static final int TOGETHER = 4;

  private final int dimension;
  private final int[] starts;
  // a row of its block's matrix for each component. Arrays of their own, because C2 does not
  // vectorize loops over two windows of arrays whose starts differ
  private final float[][] rows;

  /**
   * Makes a rotation.
   *
   * @param matrices {@link #floats} numbers: the rows of each block's orthogonal matrix
   */
  BlockRotation(SubspaceLayout layout, float[] matrices) {
    if (matrices.length != floats(layout)) {
      throw new IllegalArgumentException(
          layout + " takes " + floats(layout) + " numbers, got " + matrices.length);
    }
    this.dimension = layout.dims();
    this.starts = starts(layout);
    this.rows = new float[dimension][];
    int at = 0;
    for (int d = 0; d < dimension; d++) {
      rows[d] = Arrays.copyOfRange(matrices, at, at + length(d));
      at += rows[d].length;
    }
  }

  /** Returns where each block starts, and the dimension behind them. */
  static int[] starts(SubspaceLayout layout) {
    int[] starts = new int[layout.count() + 1];
    int blocks = 0;
    for (int s = 1; s < layout.count(); s++) {
      if (layout.offset(s) + layout.length(s) - starts[blocks] > MOST) {
        starts[++blocks] = layout.offset(s);
      }
    }
    starts[++blocks] = layout.dims();
    return Arrays.copyOf(starts, blocks + 1);
  }

  /** Returns the number of elements of all matrices. */
  static int floats(SubspaceLayout layout) {
    int[] starts = starts(layout);
    int floats = 0;
    for (int block = 1; block < starts.length; block++) {
      int length = starts[block] - starts[block - 1];
      floats += length * length;
    }
    return floats;
  }

  /** Returns the components of a vector. */
  public int dimension() {
    return dimension;
  }

  /** Returns the first component of the block of a component. */
  public int first(int component) {
    return starts[block(component)];
  }

  /** Returns the number of components of the block of a component. */
  public int length(int component) {
    int block = block(component);
    return starts[block + 1] - starts[block];
  }

  /**
   * Returns which of all elements, as they lie in the file, a rotated component has of the first
   * component of its block; the element of each next component is {@link #length} further.
   */
  public int at(int component) {
    int block = block(component);
    int before = 0;
    for (int i = 0; i < block; i++) {
      before += (starts[i + 1] - starts[i]) * (starts[i + 1] - starts[i]);
    }
    return before + component - starts[block];
  }

  private int block(int component) {
    int found = Arrays.binarySearch(starts, component);
    return found >= 0 ? found : -found - 2;
  }

  /** Returns the elements as the constructor takes them; a copy. */
  float[] matrices() {
    int length = 0;
    for (float[] row : rows) {
      length += row.length;
    }
    float[] matrices = new float[length];
    int at = 0;
    for (float[] row : rows) {
      System.arraycopy(row, 0, matrices, at, row.length);
      at += row.length;
    }
    return matrices;
  }

  @Override
  public void apply(float[] vector, float[] target) {
    Arrays.fill(target, dimension, target.length, 0);
    for (int block = 1; block < starts.length; block++) {
      int from = starts[block - 1];
      int to = starts[block];
      float[] sums = new float[to - from];
      int d = from;
      for (; d + TOGETHER <= to; d += TOGETHER) {
        addFour(sums, vector, d);
      }
      for (; d < to; d++) {
        add(sums, vector[d], rows[d]);
      }
      System.arraycopy(sums, 0, target, from, sums.length);
    }
  }

  /** Adds four rows, one after the other, so that sums are loaded and stored once. */
  private void addFour(float[] sums, float[] vector, int d) {
    float x = vector[d];
    float y = vector[d + 1];
    float z = vector[d + 2];
    float w = vector[d + 3];
    float[] ofX = rows[d];
    float[] ofY = rows[d + 1];
    float[] ofZ = rows[d + 2];
    float[] ofW = rows[d + 3];
    for (int i = 0; i < sums.length; i++) {
      sums[i] = sums[i] + x * ofX[i] + y * ofY[i] + z * ofZ[i] + w * ofW[i];
    }
  }

  private static void add(float[] sums, float times, float[] row) {
    for (int i = 0; i < sums.length; i++) {
      sums[i] += times * row[i];
    }
  }

  @Override
  public void invert(float[] rotated, float[] target) {
    for (int block = 1; block < starts.length; block++) {
      int from = starts[block - 1];
      for (int d = from; d < starts[block]; d++) {
        float sum = 0;
        for (int i = 0; i < rows[d].length; i++) {
          sum += rotated[from + i] * rows[d][i];
        }
        target[d] = sum;
      }
    }
  }

  @Override
  public String toString() {
    return "BlockRotation[dimension=" + dimension + ", blocks=" + (starts.length - 1) + "]";
  }
}
