package dev.vamana.cuda.kernel;

/**
 * Memory of a block that searches inverted lists: {@code vamana::list_layout} of
 * native-kernels/include/vamana/list_layout.h.
 *
 * @param sharedBytes shared memory
 * @param scratchBytes scratch in device memory, a multiple of 512
 */
public record ListMemory(int sharedBytes, long scratchBytes) {

  /** Bytes from a segment's descriptor to its {@link ListsLayout}. */
  public static final int LISTS_OFFSET = 256;

  static final int CONTROL_BYTES = 768;

  /** Most lists whose order is in shared memory. */
  static final int SHARED_LISTS = 4096;

  /** Vectors that are scored before the limit is looked at again. */
  static final int SCORED = 16;

  /** Candidates of a list that a block has room for. */
  static final int CANDIDATES = 256;

  // residual in planes of 4 and of 8 bits
  private static final int PLANES = 12;

  /**
   * Computes the memory.
   *
   * @param width largest width of the items
   * @param lists most lists of the items
   * @param dimension largest dimension of the items
   * @param padded components of its rotated vector
   */
  public static ListMemory of(int width, int lists, int dimension, int padded) {
    int bytes = CONTROL_BYTES;
    bytes += SharedLayout.up16(width * Long.BYTES);
    bytes += SCORED * (Long.BYTES + Integer.BYTES);
    bytes += CANDIDATES * (Long.BYTES + Float.BYTES + Short.BYTES);
    bytes += SharedLayout.up16(dimension) * Float.BYTES;
    bytes += 2 * padded * Float.BYTES;
    bytes += padded / Byte.SIZE * PLANES;
    long row = ((long) lists * Integer.BYTES + 255) & ~255L;
    if (lists <= SHARED_LISTS) {
      return new ListMemory(bytes + SharedLayout.up16(lists * Integer.BYTES), (row + 511) & ~511L);
    }
    return new ListMemory(bytes, 2 * row);
  }
}
