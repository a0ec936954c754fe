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

  private final int dimension;
  private final int[] starts;
  // rows of each block's matrix, one behind the other
  private final float[] matrices;

  /**
   * Makes a rotation.
   *
   * @param matrices {@link #floats} numbers: the rows of each block's orthogonal matrix; not copied
   */
  BlockRotation(SubspaceLayout layout, float[] matrices) {
    if (matrices.length != floats(layout)) {
      throw new IllegalArgumentException(
          layout + " takes " + floats(layout) + " numbers, got " + matrices.length);
    }
    this.dimension = layout.dims();
    this.starts = starts(layout);
    this.matrices = matrices;
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

  /** Returns the elements, which must not be changed. */
  float[] matrices() {
    return matrices;
  }

  @Override
  public void apply(float[] vector, float[] target) {
    Arrays.fill(target, 0);
    int row = 0;
    for (int block = 1; block < starts.length; block++) {
      int from = starts[block - 1];
      int length = starts[block] - from;
      for (int d = from; d < starts[block]; d++) {
        float x = vector[d];
        for (int i = 0; i < length; i++) {
          target[from + i] += x * matrices[row + i];
        }
        row += length;
      }
    }
  }

  @Override
  public void invert(float[] rotated, float[] target) {
    int row = 0;
    for (int block = 1; block < starts.length; block++) {
      int from = starts[block - 1];
      int length = starts[block] - from;
      for (int d = from; d < starts[block]; d++) {
        float sum = 0;
        for (int i = 0; i < length; i++) {
          sum += rotated[from + i] * matrices[row + i];
        }
        target[d] = sum;
        row += length;
      }
    }
  }

  @Override
  public String toString() {
    return "BlockRotation[dimension=" + dimension + ", blocks=" + (starts.length - 1) + "]";
  }
}
