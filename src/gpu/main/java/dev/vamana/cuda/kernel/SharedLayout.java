package dev.vamana.cuda.kernel;

/**
 * Byte offsets of a walk's parts in a block's shared memory: {@code vamana::shared_layout} of
 * native-kernels/include/vamana/shared_layout.h.
 *
 * @param list the worklist
 * @param keys keys of the neighbours of a step
 * @param ids ordinals of the neighbours of a step, later ranks
 * @param visited the table of visited ordinals
 * @param query the query's components
 * @param table the distance table, if it is in shared memory
 * @param bytes total size
 */
public record SharedLayout(
    int list, int keys, int ids, int visited, int query, int table, int bytes) {

  /** Bytes before the worklist. */
  public static final int CONTROL_BYTES = 512;

  /** Shared memory of a multiprocessor that the device reserves for each block. */
  public static final int RESERVED_BYTES = 1024;

  /**
   * Computes the layout.
   *
   * @param policy how the walk computes distances
   * @param listCapacity largest beam
   * @param freshCapacity most keys of a step, a multiple of 32
   * @param visitedSlots slots of the visited table, a power of two
   * @param dimension components of a query
   * @param subspaces subspaces of a code, 0 for exact policies
   */
  public static SharedLayout of(
      Policy policy,
      int listCapacity,
      int freshCapacity,
      int visitedSlots,
      int dimension,
      int subspaces) {
    int list = CONTROL_BYTES;
    int keys = list + up16(listCapacity * Long.BYTES);
    int ids = keys + up16(freshCapacity * Long.BYTES);
    int visited = ids + up16(freshCapacity * Integer.BYTES);
    int query = visited + up16(visitedSlots * Integer.BYTES);
    int table = query + up16(dimension) * Float.BYTES;
    int bytes = table + subspaces * Limits.CENTROIDS * policy.sharedEntryBytes();
    return new SharedLayout(list, keys, ids, visited, query, table, bytes);
  }

  /**
   * Returns the bytes of a block's scratch in device memory: {@code vamana::scratch_bytes}.
   *
   * @param expandedCapacity number of expanded nodes to record
   */
  public static long scratchBytes(Policy policy, int subspaces, int expandedCapacity) {
    long table =
        policy == Policy.TABLE_GLOBAL ? (long) subspaces * Limits.CENTROIDS * Float.BYTES : 0;
    return table + (((long) expandedCapacity * Integer.BYTES + 255) & ~255L);
  }

  /** Rounds up to a multiple of 16. */
  public static int up16(int value) {
    return (value + 15) & ~15;
  }
}
