package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Result} in native-kernels/include/vamana/types.h: four 32-bit
 * fields, followed by ordinals and then scores, as many of each as the item's capacity.
 */
public final class ResultLayout {

  /** Size without the hits. */
  public static final int BYTES = 16;

  public static final long COUNT = 0;
  public static final long VISITED = 4;
  public static final long FLAGS = 8;
  public static final long ITERATIONS = 12;

  /** Flag: the walk ended before its visit limit. */
  public static final int FLAG_COMPLETE = 1;

  /** Flag: an ordinal read from a file was out of range; the result is void. */
  public static final int FLAG_CORRUPT = 2;

  /** Flag: scores are not exact; the caller has to re-rank. */
  public static final int FLAG_APPROXIMATE = 4;

  /** Flag: more nodes were expanded than the scratch memory holds; the result is void. */
  public static final int FLAG_OVERFLOW = 8;

  private ResultLayout() {}

  /** Returns the bytes of a result with room for {@code capacity} hits. */
  public static long bytes(int capacity) {
    return BYTES + 2L * Integer.BYTES * capacity;
  }

  /** Returns the offset of the first ordinal. */
  public static long ordinals() {
    return BYTES;
  }

  /** Returns the offset of the first score. */
  public static long scores(int capacity) {
    return BYTES + (long) Integer.BYTES * capacity;
  }
}
