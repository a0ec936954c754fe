package dev.vamana.cuda.kernel;

import com.carrotsearch.randomizedtesting.RandomizedContext;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.ptr.IntByReference;
import java.util.Random;

/**
 * Parts of a walk's step, whose sources run on the CPU: a block's threads are fibers that run in a
 * random order (native-kernels/host/simt).
 */
final class SimtSteps {

  /** Nodes of a row that a warp adds to a visited set. */
  static final int ROW = 64;

  /** Functions of the library. */
  private interface SimtLibrary extends Library {
    String vamana_simt_sort(long[] keys, int count, long seed);

    String vamana_simt_merge(
        long[] list,
        IntByReference size,
        int capacity,
        long[] keys,
        int count,
        int warps,
        long seed);

    String vamana_simt_visit(
        int[] slots, int slotCount, int[] ordinals, int[] fresh, int warps, long seed);
  }

  private final SimtLibrary fibers;
  private final Random random;

  private SimtSteps(SimtLibrary fibers, Random random) {
    this.fibers = fibers;
    this.random = random;
  }

  /** Loads them, with the random seed of the running test. */
  static SimtSteps load() {
    return new SimtSteps(
        Native.load(HostLibrary.file().toString(), SimtLibrary.class),
        RandomizedContext.current().getRandom());
  }

  /** Sorts keys, as a block does. */
  void sort(long[] keys) {
    check(fibers.vamana_simt_sort(keys, keys.length, random.nextLong()));
  }

  /**
   * Merges new keys into a list, as a block does.
   *
   * @param list sorted entries, with room for {@code capacity}
   * @param keys new keys in any order
   * @param warps 8 or 16
   * @return the list's new size
   */
  int merge(long[] list, int size, int capacity, long[] keys, int warps) {
    IntByReference reference = new IntByReference(size);
    check(
        fibers.vamana_simt_merge(
            list, reference, capacity, keys, keys.length, warps, random.nextLong()));
    return reference.getValue();
  }

  /**
   * Warps add rows of {@link #ROW} nodes to a visited set, all at once.
   *
   * @param slots the set
   * @return which nodes were new
   */
  boolean[] visit(int[] slots, int[] ordinals) {
    int[] bits = new int[ordinals.length / 2];
    check(
        fibers.vamana_simt_visit(
            slots, slots.length, ordinals, bits, ordinals.length / ROW, random.nextLong()));
    boolean[] fresh = new boolean[ordinals.length];
    for (int i = 0; i < fresh.length; i++) {
      fresh[i] = (bits[i / 2] >> i % 2 & 1) != 0;
    }
    return fresh;
  }

  private static void check(String wrong) {
    if (wrong != null) {
      throw new IllegalStateException(wrong);
    }
  }
}
