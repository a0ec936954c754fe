package dev.vamana.cuda.kernel;

import java.util.Arrays;
import java.util.List;

/** The kernels of a step of walks whose neighbours the CPU fetches. */
public enum FetchStep {
  /** Two kernels: all that the next parent depends on, and all that can wait. */
  FUSED("near", "update"),
  /** The five kernels of BANG, distances added up by groups of 8 threads through shuffles. */
  GROUPS("filter", "distance_groups", "pick", "sort", "merge"),
  /** As {@link #GROUPS}, with atomic additions. */
  ATOMICS("filter", "distance_atomics", "pick", "sort", "merge"),
  /** As {@link #GROUPS}, with a whole warp for a distance. */
  WARPS("filter", "distance_warps", "pick", "sort", "merge"),
  /** As {@link #GROUPS}, with a whole block for a distance. */
  BLOCKS("filter", "distance_blocks", "pick", "sort", "merge");

  /** Makes the tables of queries and their empty worklists. */
  public static final String BEGIN = "host_fetch_begin";

  /** Gives candidates exact scores. */
  public static final String RERANK = "host_fetch_rerank";

  private static final int WARP = 32;
  private static final int BLOCK = 128;
  private static final int DISTANCE_BLOCK = 512;

  @SuppressWarnings("ImmutableEnumChecker") // as toList() makes it, it cannot be changed
  private final List<String> kernels;

  FetchStep(String... stages) {
    this.kernels = Arrays.stream(stages).map(stage -> "host_fetch_" + stage).toList();
  }

  /** Names of the kernels, in order. */
  public List<String> kernels() {
    return kernels;
  }

  /** The kernel after which the next parents are known, if they are chosen before sorting. */
  public int pickStage() {
    return Math.max(kernels.indexOf("host_fetch_pick"), 0);
  }

  /** Threads of a block of a kernel. */
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

  /** Dynamic shared memory of a block of a kernel of a step. */
  public static int sharedBytes(String kernel, int freshCapacity) {
    return switch (kernel) {
      case "host_fetch_near", "host_fetch_sort", "host_fetch_merge", "host_fetch_update" ->
          HostFetchLayout.stepSharedBytes(freshCapacity);
      default -> 0;
    };
  }
}
