package dev.vamana.cuda.kernel;

import dev.vamana.cuda.kernel.ListLayouts.ListsLayout;

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

  /** Most pieces of a wave that a block searches at once. */
  static final int WAVE = 16;

  /** Candidates of the lists of a wave that a block has room for. */
  static final int WAVE_CANDIDATES = 1024;

  /** Lists whose nearest is kept while lists are taken in waves. */
  static final int GROUP = 64;

  static final int OPEN_LIST_BYTES = 64;

  static final int WAVE_CONTROL_BYTES = 1024;

  /** Bytes by which the blocks of a team exchange their state: {@code vamana::ListTeam}. */
  public static final int TEAM_BYTES = 1152;

  // key and bound of a candidate
  private static final int FOUND_BYTES = 12;

  // residual in planes of 4 and of 8 bits
  private static final int PLANES = 12;

  /**
   * Computes the memory.
   *
   * @param codes how the block estimates
   * @param width largest width of the items
   * @param lists most lists of the items
   * @param dimension largest dimension of the items
   * @param padded components of its rotated vector
   * @param subspaces most subspaces of the items' codes; 0 without product quantization
   * @param waves whether a block searches several lists at once
   */
  public static ListMemory of(
      ListCodes codes,
      int width,
      int lists,
      int dimension,
      int padded,
      int subspaces,
      boolean waves) {
    int bytes = CONTROL_BYTES;
    bytes += SharedLayout.up16(width * Long.BYTES);
    bytes += SCORED * Long.BYTES;
    bytes +=
        waves
            ? WAVE_CANDIDATES * (Integer.BYTES + Long.BYTES + 2 * Float.BYTES)
            : SCORED * Integer.BYTES + CANDIDATES * (Long.BYTES + Float.BYTES + Short.BYTES);
    bytes += SharedLayout.up16(dimension) * Float.BYTES;
    bytes += 2 * padded * Float.BYTES;
    if (codes == ListCodes.BITS) {
      bytes += padded / Byte.SIZE * PLANES * (waves ? WAVE : 1);
    }
    bytes += codes.sharedBytes(subspaces);
    if (waves) {
      bytes += WAVE * OPEN_LIST_BYTES + WAVE_CONTROL_BYTES;
      bytes += SharedLayout.up16((lists + GROUP - 1) / GROUP * Long.BYTES);
    }
    long more = codes.scratchBytes(subspaces) + (waves ? WAVE_CANDIDATES * FOUND_BYTES : 0);
    long row = ((long) lists * Integer.BYTES + 255) & ~255L;
    if (lists <= SHARED_LISTS) {
      // their order, and of waves the hits before each
      bytes += SharedLayout.up16(lists * Integer.BYTES) * (waves ? 2 : 1);
      return new ListMemory(bytes, scratch(row + more));
    }
    return new ListMemory(bytes, scratch(2 * row + more));
  }

  private static long scratch(long bytes) {
    return (bytes + 511) & ~511L;
  }
}
