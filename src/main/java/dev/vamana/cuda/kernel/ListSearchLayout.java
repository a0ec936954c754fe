package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::ListSearch} in native-kernels/include/vamana/lists.h, the
 * parameter of the kernels that search inverted lists. Fields are named as there; addresses and
 * {@code SCRATCH_STRIDE} have 64 bits, other fields 32, in native byte order.
 */
public final class ListSearchLayout {

  /** Size of the block. */
  public static final int BYTES = 72;

  public static final long ITEMS = 0;
  public static final long COUNTER = 8;
  public static final long SCRATCH = 16;
  public static final long SCRATCH_STRIDE = 24;
  public static final long COUNT = 32;
  public static final long WIDTH = 36;
  public static final long LISTS = 40;
  public static final long PADDED = 44;
  public static final long DIMENSION = 48;
  public static final long SUBSPACES = 52;
  public static final long FLAGS = 56;
  public static final long TEAM = 60;
  public static final long TEAMS = 64;

  private ListSearchLayout() {}
}
