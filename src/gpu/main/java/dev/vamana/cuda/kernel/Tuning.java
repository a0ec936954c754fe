package dev.vamana.cuda.kernel;

import java.util.List;

/**
 * Overrides of kernel choices, for measurements. The defaults let rules choose.
 *
 * @param table place and precision of the distance table, or null to choose; a table that does not
 *     fit is kept in device memory in single precision
 * @param warps warps of a block, one of {@link #WARPS}, or 0 to choose
 * @param visitedSlots slots of the visited table, a power of two, or 0 to choose
 * @param team blocks that search the inverted lists of one item, 1 to {@value #MOST_TEAM}, or 0 to
 *     choose
 * @param listSharing items that have to search an inverted list, on average, so that the items of a
 *     launch search lists together; 0 for one by one, {@value #CHOOSE_SHARING} to choose
 */
public record Tuning(Policy table, int warps, int visitedSlots, int team, int listSharing) {

  /** Leaves it to the executor when items search lists together. */
  public static final int CHOOSE_SHARING = -1;

  /** Most blocks that search one item. */
  public static final int MOST_TEAM = 32;

  /** Block sizes in warps for which every walk has a kernel. */
  public static final List<Integer> WARPS = List.of(1, 2, 4, 8, 16);

  /** No overrides. */
  public static final Tuning DEFAULT = new Tuning(null, 0, 0, 0, CHOOSE_SHARING);

  /** Returns this tuning with another table. */
  public Tuning withTable(Policy newTable) {
    return new Tuning(newTable, warps, visitedSlots, team, listSharing);
  }

  /** Returns this tuning with another block size. */
  public Tuning withWarps(int newWarps) {
    return new Tuning(table, newWarps, visitedSlots, team, listSharing);
  }

  /** Returns this tuning with another size of the visited table. */
  public Tuning withVisitedSlots(int newVisitedSlots) {
    return new Tuning(table, warps, newVisitedSlots, team, listSharing);
  }

  /** Returns this tuning with another number of blocks for the inverted lists of one item. */
  public Tuning withTeam(int newTeam) {
    return new Tuning(table, warps, visitedSlots, newTeam, listSharing);
  }

  /** Returns this tuning with another number of items that have to share a list. */
  public Tuning withListSharing(int newListSharing) {
    return new Tuning(table, warps, visitedSlots, team, newListSharing);
  }
}
