package dev.vamana.cuda.kernel;

/**
 * Memory of a batch of searches of inverted lists: {@code vamana::list_batch_layout} and the
 * functions beside it in native-kernels/include/vamana/list_batch.h.
 *
 * @param count items, 1 or more
 * @param width largest width of the items
 * @param lists lists of the segment
 * @param dimension dimension of the segment
 * @param padded components of its rotated vectors, at most {@value #MAX_PADDED}
 * @param kept lists of an item that are known in order, at most {@value #MAX_KEPT}
 * @param room candidates of an item in a wave, at most {@value #MAX_ROOM}
 * @param rows items whose lists are put in order at a time
 */
public record ListBatchSizes(
    int count, int width, int lists, int dimension, int padded, int kept, int room, int rows) {

  /** Most lists of an item in a wave. */
  public static final int WAVE = 64;

  public static final int MAX_PADDED = 1024;
  public static final int MAX_KEPT = 512;
  public static final int MAX_ROOM = 4096;

  /** Shared memory of the steps that find distances, keep the nearest lists, and add up counts. */
  public static final int MEASURE_BYTES = 2 * 2 * (128 + 128) * (16 / 2 + 4) * Integer.BYTES;

  public static final int KEEP_BYTES = 64 + 1024 * Long.BYTES;
  public static final int SCAN_BYTES = 2 * 32 * Integer.BYTES;

  private static final int CONTROL_BYTES = 256;
  private static final int ITEM_BYTES = 128;
  private static final int PAIR_BYTES = 32;
  private static final int CANDIDATE_BYTES = 16;
  private static final int TILE = 32;
  private static final int ESTIMATE_WARPS = 4;
  private static final int ESTIMATED = 32;
  private static final int MEASURED_LISTS = 128;
  private static final int OPEN = 64 + ESTIMATED * TILE;
  private static final int STAGES = 3;

  /** Returns the sizes with another number of items. */
  public ListBatchSizes withCount(int newCount) {
    return new ListBatchSizes(newCount, width, lists, dimension, padded, kept, room, rows);
  }

  /** Returns the device memory that grows with the items, without what is rounded up. */
  public long bytesOfItem() {
    return ITEM_BYTES
        + (long) SharedLayout.up16(dimension) * Float.BYTES
        + 2L * padded * Float.BYTES
        + (long) width * Long.BYTES
        + 2L * kept * Integer.BYTES
        + (long) room * CANDIDATE_BYTES
        + (long) WAVE * (PAIR_BYTES + padded);
  }

  /** Returns the device memory. */
  public long bytes() {
    long items = count;
    return CONTROL_BYTES
        + up((long) lists * Integer.BYTES) * 3
        + up((lists + 1L) * Integer.BYTES) * 2
        + up(items * ITEM_BYTES)
        + up(items * SharedLayout.up16(dimension) * Float.BYTES)
        + up(items * padded * Float.BYTES)
        + up(items * width * Long.BYTES)
        + up(items * kept * Integer.BYTES) * 2
        + up(items * room * CANDIDATE_BYTES)
        + up(items * WAVE * PAIR_BYTES)
        + up(items * WAVE * padded)
        + up(items * padded * Float.BYTES)
        + up((long) lists * padded * Float.BYTES)
        + up((long) rows * octets() * 8 * Integer.BYTES)
        + up((long) rows * octets() * Integer.BYTES);
  }

  /** Returns the number of parts of eight lists. */
  private int octets() {
    return (lists + MEASURED_LISTS - 1) / MEASURED_LISTS * (MEASURED_LISTS / 8);
  }

  /** Bytes before the addresses of items that are searched one by one. */
  public static final int REST_CONTROL_BYTES = 256;

  /** Returns the device memory for items that are searched one by one, of so many. */
  public static long restBytes(int items) {
    return REST_CONTROL_BYTES + up((long) items * Long.BYTES);
  }

  /** Returns the shared memory of the steps in which a block takes an item. */
  public int itemBytes() {
    return ListMemory.of(ListCodes.BITS, width, 1, dimension, padded, 0, false).sharedBytes();
  }

  /** Returns the shared memory of the step that scores candidates. */
  public int scoreBytes() {
    return itemBytes() + WAVE * Long.BYTES + room * (Long.BYTES + 2 * Integer.BYTES + Float.BYTES);
  }

  /** Returns the shared memory of the step that estimates entries. */
  public int estimateBytes() {
    int stage = ESTIMATED * (padded / Byte.SIZE + 3 * Float.BYTES);
    return 16
        + ESTIMATE_WARPS * OPEN * Integer.BYTES
        + ESTIMATE_WARPS * STAGES * stage
        + TILE * (16 + PAIR_BYTES + padded + 32);
  }

  private static long up(long bytes) {
    return (bytes + 255) & ~255L;
  }
}
