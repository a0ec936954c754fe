package dev.vamana.cuda.kernel;

import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import dev.vamana.cuda.lists.ListKernels;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;

/**
 * The project's kernels run by the CPU, with which a {@link dev.vamana.cuda.driver.SimulatedDriver}
 * answers searches without a device. Walks and searches of lists are written anew for one thread
 * (native-kernels/host); for all other kernels {@link SimtKernels} runs the kernels themselves. A
 * launch whose parameters violate a precondition of the kernels fails with a message that names it.
 */
public final class HostKernels implements SimulatedKernels {

  private final HostLibrary host;
  private final SimtKernels fibers;

  private HostKernels(HostLibrary host, Path fibers) {
    this.host = host;
    this.fibers = SimtKernels.of(this, fibers, 0, true);
  }

  /** Loads them; see {@link HostLibrary#load} for when tests are skipped. */
  public static HostKernels load() {
    return new HostKernels(HostLibrary.load(), SimtKernels.file());
  }

  /**
   * Loads them from elsewhere.
   *
   * @param host the library of walks and searches of lists for one thread
   * @param fibers the library of simulated threads
   */
  public static HostKernels load(Path host, Path fibers) {
    return new HostKernels(HostLibrary.load(host), fibers);
  }

  @Override
  public Body find(String name) {
    if (host.vamana_host_has_kernel(name) == 0) {
      return fibers.find(name);
    }
    return (blocks, threads, sharedBytes, parameters) -> {
      check(name, threads, sharedBytes, parameters);
      launch(name, parameters);
    };
  }

  /** Finds mistakes of a launch that would make the kernel access memory beyond its own. */
  void check(String name, int threads, int sharedBytes, MemorySegment parameters) {
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

  /** Runs a kernel on the calling thread. */
  public void launch(String name, MemorySegment parameters) {
    String wrong = host.vamana_host_launch(name, HostLibrary.pointer(parameters));
    if (wrong != null) {
      throw new IllegalStateException(name + ": " + wrong);
    }
  }
}
