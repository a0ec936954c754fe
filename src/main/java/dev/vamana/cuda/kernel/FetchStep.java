package dev.vamana.cuda.kernel;

import java.util.Arrays;
import java.util.List;

/**
 * The kernels of one step of a walk whose neighbours the CPU fetches. {@link #FUSED} is the
 * default; the others are for comparison.
 */
public enum FetchStep {
  /** Two kernels: everything that the next parent depends on, and the rest. */
  FUSED("near", "update"),
  /** The five kernels of BANG; groups of 8 threads add a distance up with shuffles. */
  GROUPS("filter", "distance_groups", "pick", "sort", "merge"),
  /** As {@link #GROUPS}, with atomic additions. */
  ATOMICS("filter", "distance_atomics", "pick", "sort", "merge"),
  /** As {@link #GROUPS}, with one warp per distance. */
  WARPS("filter", "distance_warps", "pick", "sort", "merge"),
  /** As {@link #GROUPS}, with one block per distance. */
  BLOCKS("filter", "distance_blocks", "pick", "sort", "merge");

  /** Kernel that makes the distance tables of queries and their empty worklists. */
  public static final String BEGIN = "host_fetch_begin";

  /** Kernel that computes exact scores of candidates. */
  public static final String RERANK = "host_fetch_rerank";

  private static final int WARP = 32;
  private static final int BLOCK = 128;
  private static final int DISTANCE_BLOCK = 512;

  @SuppressWarnings("ImmutableEnumChecker") // toList() returns an unmodifiable list
  private final List<String> kernels;

  FetchStep(String... stages) {
    this.kernels = Arrays.stream(stages).map(stage -> "host_fetch_" + stage).toList();
  }

  /** Returns the names of the kernels, in order. */
  public List<String> kernels() {
    return kernels;
  }

  /**
   * Returns the index of the kernel after which the next parents are known, if they are picked
   * before sorting.
   */
  public int pickStage() {
    return Math.max(kernels.indexOf("host_fetch_pick"), 0);
  }

  /** Returns the threads of a block of a kernel. */
  public static int threads(String kernel) {
    return switch (kernel) {
      case "host_fetch_filter", "host_fetch_pick" -> WARP;
      case "host_fetch_distance_groups",
          "host_fetch_distance_atomics",
          "host_fetch_distance_warps",
          "host_fetch_distance_blocks" ->
          DISTANCE_BLOCK;
      default -> BLOCK;
    };
  }

  /** Returns the dynamic shared memory of a block of a step's kernel. */
  public static int sharedBytes(String kernel, int freshCapacity) {
    return switch (kernel) {
      case "host_fetch_near", "host_fetch_sort", "host_fetch_merge", "host_fetch_update" ->
          HostFetchLayout.stepSharedBytes(freshCapacity);
      default -> 0;
    };
  }
}
