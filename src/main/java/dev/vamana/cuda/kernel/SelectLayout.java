package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::select::Select} in native-kernels/include/vamana/select/select.h,
 * the parameter of the selection kernels. Fields are named as there; addresses have 64 bits, other
 * fields 32, in native byte order.
 */
public final class SelectLayout {

  /** Size of the block. */
  public static final int BYTES = 80;

  /** Address of rows of {@code STRIDE} floats, of which the first {@code N} are keys. */
  public static final long KEYS = 0;

  /** Address of rows of {@code STRIDE} ids, or 0 if a key's id is its column. */
  public static final long IDS = 8;

  /** Address of the result: rows of {@code K} floats. */
  public static final long OUT_KEYS = 16;

  /** Address of the result: rows of {@code K} ids. */
  public static final long OUT_IDS = 24;

  /** Address of scratch memory, 256-byte aligned. */
  public static final long SCRATCH = 32;

  /** Number of rows. */
  public static final long ROWS = 40;

  /** Keys of a row. */
  public static final long N = 44;

  /** Floats between rows, a multiple of 4. */
  public static final long STRIDE = 48;

  /** Number of keys to select. */
  public static final long K = 52;

  /** Blocks that share a row. */
  public static final long PARTITIONS = 56;

  /** Sample Select: number of places in the sample by which the wanted rank may be off. */
  public static final long MARGIN = 60;

  /** Sample Select: number of pairs of a row that scratch has room for. */
  public static final long CAPACITY = 64;

  /** Merging of sorted runs: pairs of a run so far. */
  public static final long RUN = 68;

  /** Merging of sorted runs: number of the scratch array that is read. */
  public static final long ARRAY = 72;

  private SelectLayout() {}
}
