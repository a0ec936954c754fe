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

  public static final long SEARCH = 0;
  public static final long MEMORY = 72;
  public static final long SEGMENT = 80;
  public static final long REST = 88;
  public static final long LISTS = 96;
  public static final long PADDED = 100;
  public static final long KEPT = 104;
  public static final long ROOM = 108;
  public static final long FIRST = 112;
  public static final long WAVE = 116;
  public static final long FROM = 120;
  public static final long ROWS = 124;

  private ListBatchLayout() {}
}
