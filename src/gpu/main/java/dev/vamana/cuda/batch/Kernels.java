package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.kernel.SharedMemoryPlan;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.lists.ListKernels;
import java.util.HashMap;
import java.util.Map;

/**
 * Chooses the kernel, block size and grid of each launch. For one thread. {@link LaunchSlot} asks
 * it for walks, and through it {@code ListKernels} for lists.
 */
public final class Kernels {

  private static final int WARP = 32;
  private static final int MOST_WARPS = 16;

  // neighbours whose distances eight warps compute in one pass
  private static final int MANY_NEIGHBOURS = 64;

  // ratio of worklist to fresh neighbours from which one warp merges fastest
  private static final int LONG_WORKLIST = 8;

  // longest worklist that sixteen warps merge by ballots
  private static final int SHORT_WORKLIST = 128;

  // time of a walk by a block of WARPS[i] warps, relative to eight warps. Of the tables tried, this
  // one's choices lose least over 1,000 and 10,000 items of 100 and 384 dimensions (0.7 % in the
  // mean), measured by repeating launches: docs/internals/gpu-kernels.md.
  private static final int[] WARPS = {8, 4, 2, 1};
  private static final double[] TIMES = {1, 1, 1.3, 2.4};

  /** A kernel with its launch configuration. */
  public record Choice(
      CudaDriver.Kernel kernel, int threads, int sharedBytes, int blocks, int slots) {}

  private final CudaDriver driver;
  private final Tuning tuning;
  private final ListKernels lists;
  private final Map<WalkShape, SharedMemoryPlan> plans = new HashMap<>();

  /** Chooses the kernel and grid of a launch that searches inverted lists. */
  ListKernels.Choice lists(ListSearchShape shape, ChunkSizes sizes, int items, int others) {
    return lists.choose(shape, sizes, tuning, items, others);
  }

  /** Makes an instance for one driver. */
  public Kernels(CudaDriver driver, Tuning tuning) {
    this.driver = driver;
    this.tuning = tuning;
    this.lists = new ListKernels(driver);
  }

  /** Returns {@link Tuning#listSharing}. */
  int listSharing() {
    return tuning.listSharing();
  }

  /** Returns the shared-memory policy of a shape. */
  Policy policy(WalkShape shape) {
    return plan(shape).policy();
  }

  /**
   * Chooses kernel and grid of a launch. Blocks of many warps finish a walk fastest, but fewer of
   * them fit the device at once. The first rule that applies decides:
   *
   * <ol>
   *   <li>If a step does little more than merge, because distances come from a shared table and the
   *       worklist is long, a block has one warp.
   *   <li>If every item has a multiprocessor to itself, a step has many neighbours and the worklist
   *       is short, a block has sixteen warps.
   *   <li>Otherwise a block has the number of warps, at most eight, that ends all items soonest.
   * </ol>
   *
   * @param items items of the launch
   * @param others items in flight in other launches
   */
  public Choice choose(WalkShape shape, ChunkSizes sizes, int items, int others) {
    SharedMemoryPlan plan = plan(shape);
    Policy policy = plan.policy();
    int slots = plan.visitedSlots();
    int bytes = bytes(policy, sizes, slots);
    int multiprocessors = driver.device().multiprocessors();
    int warps = tuning.warps();
    if (warps == 0) {
      warps = warps(policy, sizes, bytes, items + others);
    }
    int blocks = blocks(policy, warps, bytes);
    if (blocks < 1) {
      throw new GpuException(
          GpuException.Kind.NOT_SUPPORTED,
          policy.kernelName(warps) + " does not fit with " + bytes + " shared bytes");
    }
    // memory that no other block would take: a larger table forgets less
    int more = bytes(policy, sizes, 2 * slots);
    if (tuning.visitedSlots() == 0
        && 2 * slots <= SharedMemoryPlan.MAX_SLOTS
        && more <= driver.device().sharedBytesPerBlock()
        && blocks(policy, warps, more) == blocks) {
      slots *= 2;
      bytes = more;
    }
    return new Choice(
        kernel(policy, warps),
        warps * WARP,
        bytes,
        (int) Math.min(items, (long) multiprocessors * blocks),
        slots);
  }

  private static int bytes(Policy policy, ChunkSizes sizes, int slots) {
    return SharedLayout.of(
            policy, sizes.beam(), sizes.fresh(), slots, sizes.dimension(), sizes.subspaces())
        .bytes();
  }

  private int warps(Policy policy, ChunkSizes sizes, int sharedBytes, int load) {
    if (policy.sharedEntryBytes() > 0 && sizes.beam() >= LONG_WORKLIST * sizes.fresh()) {
      return 1;
    }
    boolean alone = load <= driver.device().multiprocessors();
    boolean together = sizes.fresh() > MANY_NEIGHBOURS && sizes.beam() <= SHORT_WORKLIST;
    return alone && together ? MOST_WARPS : soonest(policy, sharedBytes, load);
  }

  private int soonest(Policy policy, int sharedBytes, int load) {
    int found = WARPS[0];
    double soonest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < WARPS.length; i++) {
      int blocks = blocks(policy, WARPS[i], sharedBytes);
      double rounds = load / ((double) blocks * driver.device().multiprocessors());
      double time = TIMES[i] * Math.max(1, rounds);
      if (time < soonest) {
        found = WARPS[i];
        soonest = time;
      }
    }
    return found;
  }

  private SharedMemoryPlan plan(WalkShape shape) {
    SharedMemoryPlan plan = plans.get(shape);
    if (plan == null) {
      plan = SharedMemoryPlan.of(shape, driver.device().sharedBytesPerBlock(), tuning);
      if (plan == null) {
        throw new GpuException(
            GpuException.Kind.NOT_SUPPORTED, shape + " does not fit the device's shared memory");
      }
      plans.put(shape, plan);
    }
    return plan;
  }

  private CudaDriver.Kernel kernel(Policy policy, int warps) {
    return driver.kernel(policy.kernelName(warps));
  }

  private int blocks(Policy policy, int warps, int sharedBytes) {
    return kernel(policy, warps).blocksPerMultiprocessor(warps * WARP, sharedBytes);
  }
}
