package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ListBatch} in native-kernels/include/vamana/list_batch.h, the
 * parameter of the kernels that search the inverted lists of one segment by many items together.
 * Fields are named as there; {@code SEARCH} is a {@link ListSearchLayout}, addresses have 64 bits,
 * other fields 32, in native byte order.
 */
public final class ListBatchLayout {

  /** Size of the block. */
  public static final int BYTES = 128;

  /** The {@link ListSearchLayout} of items that are searched one by one. */
  public static final long SEARCH = 0;

  /** Address of {@link ListBatchSizes#bytes} bytes. */
  public static final long MEMORY = 72;

  /** Address of the items' {@link SegmentLayout}. */
  public static final long SEGMENT = 80;

  /** Address of {@link ListBatchSizes#restBytes} bytes, of which the first 256 are 0. */
  public static final long REST = 88;

  /** Lists of the segment. */
  public static final long LISTS = 96;

  /** Components of a rotated vector. */
  public static final long PADDED = 100;

  /** Lists of an item that are known in order. */
  public static final long KEPT = 104;

  /** Candidates of an item in a wave that there is room for. */
  public static final long ROOM = 108;

  /**
   * Lists that an item has searched before the wave. An item that fell behind has searched fewer.
   */
  public static final long FIRST = 112;

  /** Lists of an item in the wave. */
  public static final long WAVE = 116;

  /** First item whose lists are put in order now. */
  public static final long FROM = 120;

  /** Items whose lists are put in order at a time. */
  public static final long ROWS = 124;

  private ListBatchLayout() {}
}
