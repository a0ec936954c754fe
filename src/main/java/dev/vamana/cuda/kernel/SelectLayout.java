package dev.vamana.cuda.kernel;

/**
 * {@code vamana::select::Select} of native-kernels/include/vamana/select/select.h, the parameter of
 * the kernels that select: byte offsets of its fields, each named as there. Addresses are 64 bits
 * wide, other fields 32, in native byte order.
 */
public final class SelectLayout {

  /** Size of the block. */
  public static final int BYTES = 80;

  /** Address of rows of {@code STRIDE} floats, the first {@code N} of which count. */
  public static final long KEYS = 0;

  /** Address of rows of {@code STRIDE} ids, or 0 if a key's id is its column. */
  public static final long IDS = 8;

  /** Address of rows of {@code K} floats, the result. */
  public static final long OUT_KEYS = 16;

  /** Address of rows of {@code K} ids, the result. */
  public static final long OUT_IDS = 24;

  /** Address of scratch memory, 256-byte aligned. */
  public static final long SCRATCH = 32;

  /** Number of rows. */
  public static final long ROWS = 40;

  /** Keys of a row. */
  public static final long N = 44;

  /** Floats from one row to the next, a multiple of 4. */
  public static final long STRIDE = 48;

  /** How many are wanted. */
  public static final long K = 52;

  /** Blocks that share a row. */
  public static final long PARTITIONS = 56;

  /** Sample Select: places of the sample that the wanted rank may be off. */
  public static final long MARGIN = 60;

  /** Sample Select: pairs that a row has room for in scratch. */
  public static final long CAPACITY = 64;

  /** Merging of sorted runs: pairs of a run so far. */
  public static final long RUN = 68;

  /** Merging of sorted runs: which array of scratch is read. */
  public static final long ARRAY = 72;

  private SelectLayout() {}
}
