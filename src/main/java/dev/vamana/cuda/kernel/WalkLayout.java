package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Walk} in native-kernels/include/vamana/types.h, the parameter of
 * the walk kernels. Fields are named as there; addresses and {@code SCRATCH_STRIDE} have 64 bits,
 * other fields 32, in native byte order.
 */
public final class WalkLayout {

  /** Size of the block. */
  public static final int BYTES = 64;

  public static final long ITEMS = 0;
  public static final long COUNTER = 8;
  public static final long SCRATCH = 16;
  public static final long SCRATCH_STRIDE = 24;
  public static final long COUNT = 32;
  public static final long LIST_CAPACITY = 36;
  public static final long FRESH_CAPACITY = 40;
  public static final long VISITED_SLOTS = 44;
  public static final long DIMENSION = 48;
  public static final long SUBSPACES = 52;
  public static final long EXPANDED_CAPACITY = 56;
  public static final long FLAGS = 60;

  /** Flag: pick and fetch the next row before sorting (BANG, section 4.6). */
  public static final int FLAG_EAGER_PICK = 1;

  /** Flag: compute a neighbour's distance each time it is met. */
  public static final int FLAG_NO_VISITED_FILTER = 2;

  /**
   * Flag: the items lie side by side, and {@link #ITEMS} is the address of the first, which saves
   * one read over the bus before a walk begins.
   */
  public static final int FLAG_SIDE_BY_SIDE = 4;

  /**
   * Flag: a visit limit may end a walk of the launch. Walks then add nodes to their visited sets in
   * an order that no race decides, because a forgotten node counts again.
   */
  public static final int FLAG_LIMITED = 8;

  private WalkLayout() {}
}
