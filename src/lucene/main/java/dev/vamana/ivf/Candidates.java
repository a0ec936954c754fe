package dev.vamana.ivf;

import java.util.Arrays;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.NumericUtils;

/** Ordinals whose estimated distance leaves open whether they are hits. For one thread. */
public final class Candidates {

  // odd, with about as many ones as zeros
  private static final long MIXER = 0x9E3779B97F4A7C15L;

  private long[] order = new long[256];
  private int[] ordinals = new int[256];
  private float[] bounds = new float[256];
  private long[] codes = new long[256];
  private int size;

  /** Returns the number of candidates. */
  public int size() {
    return size;
  }

  /** Removes all candidates. */
  public void clear() {
    size = 0;
  }

  /**
   * Adds a candidate.
   *
   * @param estimate its estimated distance
   * @param bound a distance that it very probably has at least
   * @param bits the first words of its code; not changed
   */
  void add(int ordinal, float estimate, float bound, long[] bits) {
    if (size == ordinals.length) {
      int length = ArrayUtil.oversize(size + 1, Long.BYTES);
      order = Arrays.copyOf(order, length);
      ordinals = Arrays.copyOf(ordinals, length);
      bounds = Arrays.copyOf(bounds, length);
      codes = Arrays.copyOf(codes, length);
    }
    order[size] = (long) NumericUtils.floatToSortableInt(estimate) << 32 | size;
    ordinals[size] = ordinal;
    bounds[size] = bound;
    long code = (long) Float.floatToIntBits(estimate) << 32 | Float.floatToIntBits(bound);
    for (long word : bits) {
      code = (code ^ code >>> 32) * MIXER + word;
    }
    // 0 stands for no code
    codes[size] = code == 0 ? 1 : code;
    size++;
  }

  /** Puts the candidates in the order of their estimates, the least first. */
  public void sort() {
    Arrays.sort(order, 0, size);
  }

  /** Returns the ordinal of a candidate by its rank, 0 to {@link #size()} - 1. */
  public int ordinal(int rank) {
    return ordinals[(int) order[rank]];
  }

  /** Returns the least probable distance of a candidate by its rank. */
  public float bound(int rank) {
    return bounds[(int) order[rank]];
  }

  /**
   * Returns a number for the code of a candidate by its rank. Candidates of one list that have the
   * same number have the same code, and so very probably equal vectors; equal vectors have the same
   * number.
   */
  public long code(int rank) {
    return codes[(int) order[rank]];
  }
}
