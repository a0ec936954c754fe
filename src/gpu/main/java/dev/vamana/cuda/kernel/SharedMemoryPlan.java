package dev.vamana.cuda.kernel;

import dev.vamana.cuda.kernel.WalkShape.Reads;

/**
 * The kernel and shared-memory size for a walk shape on a device: where the distance table is, and
 * how many visited nodes are remembered.
 *
 * <p>Shared memory limits how many blocks a multiprocessor runs at once. A walk mostly waits for
 * memory, so more blocks mean more throughput. A table in half precision is chosen if it makes room
 * for at least a quarter more blocks than a table of floats. A table is kept in device memory if it
 * does not fit, or leaves fewer than a quarter of the wanted visited slots.
 *
 * @param policy the kernel
 * @param visitedSlots slots of the visited table, a power of two
 * @param sharedBytes dynamic shared memory of a block for the largest item of the shape
 */
public record SharedMemoryPlan(Policy policy, int visitedSlots, int sharedBytes) {

  /** Most blocks that a multiprocessor runs at once. */
  public static final int MAX_BLOCKS = 32;

  static final int MIN_SLOTS = 256;

  /** Most slots of a visited table. */
  public static final int MAX_SLOTS = 4096;

  private static final double VISITS_PER_SLOT_OF_A_ROW = 0.4;
  private static final int APPROACH = 12;

  // several parents make a walk shorter: it meets hardly more nodes than with one
  private static final int ROW = 64;

  // of the largest beam of a shape: what its beams are on average
  private static final double MEAN_BEAM = 0.75;
  private static final double HALF_PAYS = 1.25;

  /**
   * Plans a shape.
   *
   * @param blockBytes most dynamic shared memory of a block on the device
   * @return the plan, or null if the shape does not fit the device
   */
  public static SharedMemoryPlan of(WalkShape shape, int blockBytes, Tuning tuning) {
    int slots = tuning.visitedSlots() > 0 ? tuning.visitedSlots() : wantedSlots(shape);
    if (shape.reads() != Reads.CODES) {
      return fit(shape, exact(shape.reads()), slots, MIN_SLOTS, blockBytes);
    }
    if (tuning.table() != null) {
      SharedMemoryPlan plan = fit(shape, tuning.table(), slots, MIN_SLOTS, blockBytes);
      return plan != null ? plan : fit(shape, Policy.TABLE_GLOBAL, slots, MIN_SLOTS, blockBytes);
    }
    int enough = Math.max(MIN_SLOTS, slots / 4);
    SharedMemoryPlan half = fit(shape, Policy.TABLE_HALF, slots, enough, blockBytes);
    SharedMemoryPlan single = fit(shape, Policy.TABLE_FLOAT, slots, slots, blockBytes);
    if (single != null
        && half != null
        && half.blocks(blockBytes) < HALF_PAYS * single.blocks(blockBytes)) {
      return single;
    }
    return half != null ? half : fit(shape, Policy.TABLE_GLOBAL, slots, MIN_SLOTS, blockBytes);
  }

  /** Returns how many blocks of one warp fit a multiprocessor's shared memory. */
  public int blocks(int blockBytes) {
    return Math.min(
        MAX_BLOCKS,
        (blockBytes + SharedLayout.RESERVED_BYTES) / (sharedBytes + SharedLayout.RESERVED_BYTES));
  }

  /**
   * Returns slots for about as many nodes as a walk of a mean beam of the shape visits, within
   * limits. Half as many would cost 2 to 7 % of a walk's time; twice as many take the shared memory
   * of other blocks.
   */
  static int wantedSlots(WalkShape shape) {
    double visits =
        VISITS_PER_SLOT_OF_A_ROW
            * Math.min(shape.fresh(), ROW)
            * (MEAN_BEAM * shape.beam() + APPROACH);
    long nearest = 1L << Math.round(Math.log(visits) / Math.log(2));
    return (int) Math.max(MIN_SLOTS, Math.min(MAX_SLOTS, nearest));
  }

  private static SharedMemoryPlan fit(
      WalkShape shape, Policy policy, int mostSlots, int leastSlots, int blockBytes) {
    int slots = mostSlots;
    while (true) {
      int bytes =
          SharedLayout.of(
                  policy, shape.beam(), shape.fresh(), slots, shape.dimension(), shape.subspaces())
              .bytes();
      if (bytes <= blockBytes) {
        return new SharedMemoryPlan(policy, slots, bytes);
      }
      if (slots / 2 < leastSlots) {
        return null;
      }
      slots /= 2;
    }
  }

  private static Policy exact(Reads reads) {
    return reads == Reads.FLOAT32
        ? Policy.EXACT_F32
        : reads == Reads.FLOAT16 ? Policy.EXACT_F16 : Policy.EXACT_BYTE;
  }
}
