package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ListBatch} in native-kernels/include/vamana/list_batch.h, the
 * parameter of the kernels that search the inverted lists of one segment by many items together.
 * Fields are named as there; {@code SEARCH} is a {@link ListSearchLayout}, addresses have 64 bits,
 * other fields 32, in native byte order.
 */
public final class ListBatchLayout {

  /** Size of the block. */
  public static final int BYTES = 120;

  /** The {@link ListSearchLayout} of items that are searched one by one. */
  public static final long SEARCH = 0;

  /** Address of {@link ListBatchSizes#bytes} bytes. */
  public static final long MEMORY = 64;

  /** Address of the items' {@link SegmentLayout}. */
  public static final long SEGMENT = 72;

  /** Address of {@link ListBatchSizes#restBytes} bytes, of which the first 256 are 0. */
  public static final long REST = 80;

  /** Lists of the segment. */
  public static final long LISTS = 88;

  /** Components of a rotated vector. */
  public static final long PADDED = 92;

  /** Lists of an item that are known in order. */
  public static final long KEPT = 96;

  /** Candidates of an item in a wave that there is room for. */
  public static final long ROOM = 100;

  /** Place of the wave's first list in the order of an item. */
  public static final long FIRST = 104;

  /** Lists of an item in the wave. */
  public static final long WAVE = 108;

  /** First item whose lists are put in order now. */
  public static final long FROM = 112;

  /** Items whose lists are put in order at a time. */
  public static final long ROWS = 116;

  private ListBatchLayout() {}
}
