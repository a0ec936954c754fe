package dev.vamana.cuda.kernel;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import dev.vamana.cuda.lists.ListKernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The shipped kernels on the CPU, each thread of a launch as a fiber of its own
 * (native-kernels/host/simt), with which a {@link dev.vamana.cuda.driver.SimulatedDriver} works
 * without a device. Blocks run one after the other; or blocks of search kernels make progress side
 * by side in a random order, and a race between accesses of shared memory fails the launch.
 */
public final class SimtKernels implements SimulatedKernels {

  /** Most blocks of kernels whose blocks take from the same items until none is left. */
  private static final int MOST_BLOCKS = 3;

  /** Functions of the library. */
  private interface SimtLibrary extends Library {
    int vamana_simt_has_kernel(String name);

    String vamana_simt_launch(
        String name,
        Pointer parameters,
        int bytes,
        int blocks,
        int threads,
        int sharedBytes,
        long seed,
        int oneByOne);
  }

  private final HostLibrary host;
  private final SimtLibrary fibers;
  private final Random random;
  private final boolean oneByOne;
  private final AtomicInteger launches = new AtomicInteger();

  private SimtKernels(Path library, long seed, boolean oneByOne) {
    this.host = HostLibrary.load(library);
    this.fibers = Native.load(library.toString(), SimtLibrary.class);
    this.random = new Random(seed);
    this.oneByOne = oneByOne;
  }

  /** Loads them; see {@link HostLibrary#load} for when tests are skipped. Blocks run in turn. */
  public static SimtKernels load() {
    return load(HostLibrary.file());
  }

  /** As {@link #load()}, from the library in a file. */
  public static SimtKernels load(Path library) {
    return new SimtKernels(library, 0, true);
  }

  /**
   * As {@link #load()}, but blocks make progress side by side, and races are found.
   *
   * @param seed decides which threads run when
   */
  public static SimtKernels sideBySide(long seed) {
    return new SimtKernels(HostLibrary.file(), seed, false);
  }

  /** Returns how many launches simulated threads have carried out. */
  public int launches() {
    return launches.get();
  }

  @Override
  public Body find(String name) {
    if (fibers.vamana_simt_has_kernel(name) == 0) {
      return null;
    }
    boolean batch = name.startsWith("list_batch_");
    boolean searches = name.startsWith("walk_") || name.startsWith("list_search_");
    return (blocks, threads, sharedBytes, parameters) -> {
      check(name, threads, sharedBytes, parameters);
      launches.incrementAndGet();
      String wrong =
          fibers.vamana_simt_launch(
              name,
              HostLibrary.pointer(parameters),
              Math.toIntExact(parameters.byteSize()),
              batch ? Math.min(blocks, MOST_BLOCKS) : blocks,
              threads,
              sharedBytes,
              nextSeed(),
              batch || (searches && oneByOne == false) ? 0 : 1);
      if (wrong != null) {
        throw new IllegalStateException(name + ": " + wrong);
      }
    };
  }

  private synchronized long nextSeed() {
    return random.nextLong();
  }

  /** Finds mistakes of a launch that would make the kernel access memory beyond its own. */
  private void check(String name, int threads, int sharedBytes, MemorySegment parameters) {
    if (name.startsWith("walk_")) {
      checkWalk(name, threads, sharedBytes, parameters);
    } else if (name.startsWith("list_search_")) {
      checkLists(name, threads, sharedBytes, parameters);
    } else if (name.startsWith("list_batch_")) {
      checkBatch(name, sharedBytes, parameters);
    }
  }

  private void checkWalk(String name, int threads, int sharedBytes, MemorySegment walk) {
    for (Policy policy : Policy.values()) {
      if (name.equals(policy.kernelName(threads / 32))) {
        int[] offsets = new int[7];
        host.vamana_shared_layout(policy.ordinal(), HostLibrary.pointer(walk), offsets);
        if (sharedBytes < offsets[6]) {
          throw new IllegalStateException(
              name + " needs " + offsets[6] + " bytes of shared memory, got " + sharedBytes);
        }
        long scratch = host.vamana_scratch_bytes(policy.ordinal(), HostLibrary.pointer(walk));
        long stride = walk.get(ValueLayout.JAVA_LONG, WalkLayout.SCRATCH_STRIDE);
        if (stride < scratch || stride % 16 != 0) {
          throw new IllegalStateException(
              name + " needs " + scratch + " bytes of scratch a block, got " + stride);
        }
        return;
      }
    }
    throw new IllegalStateException(name + " was launched with " + threads + " threads");
  }

  private void checkLists(String name, int threads, int sharedBytes, MemorySegment search) {
    int waves = name.endsWith("_w" + ListKernels.MANY_WARPS) ? 1 : 0;
    int codes = ListCodes.BITS.ordinal();
    for (ListCodes of : List.of(ListCodes.TABLE, ListCodes.TABLE_GLOBAL)) {
      codes = name.contains(of.kernelName() + "_w") ? of.ordinal() : codes;
    }
    int needed = host.vamana_list_shared_bytes(HostLibrary.pointer(search), waves, codes);
    if (sharedBytes < needed || name.endsWith("_w" + threads / 32) == false) {
      throw new IllegalStateException(
          name + " needs " + needed + " bytes, got " + sharedBytes + ", threads " + threads);
    }
  }

  private void checkBatch(String name, int sharedBytes, MemorySegment batch) {
    int part =
        name.startsWith("list_batch_score_")
            ? 2
            : name.equals("list_batch_estimate")
                ? 3
                : name.startsWith("list_batch_prepare_") || name.startsWith("list_batch_first_")
                    ? 1
                    : -1;
    if (part > 0 && sharedBytes < host.vamana_list_batch_bytes(HostLibrary.pointer(batch), part)) {
      throw new IllegalStateException(name + " got " + sharedBytes + " bytes of shared memory");
    }
  }
}
