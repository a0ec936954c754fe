package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Walk} in native-kernels/include/vamana/types.h, the parameter of
 * the walk kernels. Fields are named as there; addresses and {@code SCRATCH_STRIDE} have 64 bits,
 * other fields 32, in native byte order.
 */
public final class WalkLayout {

  /** Size of the block. */
  public static final int BYTES = 64;

  /** Address of {@code COUNT} addresses of {@link ItemLayout}s; see {@link #FLAG_SIDE_BY_SIDE}. */
  public static final long ITEMS = 0;

  /** Address of a 32-bit counter in device memory, zero at launch. */
  public static final long COUNTER = 8;

  /** Address of {@code SCRATCH_STRIDE} bytes per block; or 0. */
  public static final long SCRATCH = 16;

  /** Bytes of scratch of one block. */
  public static final long SCRATCH_STRIDE = 24;

  /** Number of items. */
  public static final long COUNT = 32;

  /** Largest beam of the items. */
  public static final long LIST_CAPACITY = 36;

  /** Most keys of a step, over the items; a multiple of 32. */
  public static final long FRESH_CAPACITY = 40;

  /** Slots of the visited table, a power of two. */
  public static final long VISITED_SLOTS = 44;

  /** Largest dimension of the items. */
  public static final long DIMENSION = 48;

  /** Most subspaces of the items; 0 for exact policies. */
  public static final long SUBSPACES = 52;

  /** Number of expanded nodes that the scratch memory holds; 0 if no item needs them. */
  public static final long EXPANDED_CAPACITY = 56;

  /** The requested {@code FLAG} constants. */
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
