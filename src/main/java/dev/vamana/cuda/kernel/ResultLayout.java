package dev.vamana.cuda.kernel;

/**
 * {@code vamana::Result} of native-kernels/include/vamana/types.h: four 32-bit fields, then
 * ordinals and then scores, an item's capacity of each.
 */
public final class ResultLayout {

  /** Size without the hits. */
  public static final int BYTES = 16;

  /** Hits. */
  public static final long COUNT = 0;

  /** Nodes that got a distance. */
  public static final long VISITED = 4;

  /** The {@code FLAG} constants that hold. */
  public static final long FLAGS = 8;

  /** Steps of the walk. */
  public static final long ITERATIONS = 12;

  /** The walk ended by itself. */
  public static final int FLAG_COMPLETE = 1;

  /** An ordinal read from a file was out of range; the result is void. */
  public static final int FLAG_CORRUPT = 2;

  /** Scores are not exact: the caller re-ranks. */
  public static final int FLAG_APPROXIMATE = 4;

  /** More nodes were expanded than the scratch holds; the result is void. */
  public static final int FLAG_OVERFLOW = 8;

  private ResultLayout() {}

  /** Bytes of a result with room for so many hits. */
  public static long bytes(int capacity) {
    return BYTES + 2L * Integer.BYTES * capacity;
  }

  /** Offset of the first ordinal. */
  public static long ordinals() {
    return BYTES;
  }

  /** Offset of the first score. */
  public static long scores(int capacity) {
    return BYTES + (long) Integer.BYTES * capacity;
  }
}
