package dev.vamana.cuda.kernel;

import java.util.List;

/**
 * Choices about kernels that are made by rule unless somebody measures.
 *
 * @param table where the distance table is and in which precision, or null to choose; one that does
 *     not fit is kept in device memory in single precision
 * @param warps warps of a block, one of {@link #WARPS}, or 0 to choose
 * @param visitedSlots slots of the visited table, a power of two, or 0 to choose
 * @param eagerPick whether the next row is fetched before the neighbours are sorted (BANG, section
 *     4.6)
 * @param visitedFilter whether visited nodes are remembered at all
 */
public record Tuning(
    Policy table, int warps, int visitedSlots, boolean eagerPick, boolean visitedFilter) {

  /** Warps of a block that every walk has a kernel for. */
  public static final List<Integer> WARPS = List.of(1, 2, 4, 8, 16);

  /** What is chosen by rule. */
  public static final Tuning DEFAULT = new Tuning(null, 0, 0, true, true);

  public Tuning {
    if (table != null && table.quantized() == false) {
      throw new IllegalArgumentException("table must be the policy of a table, got " + table);
    }
    if (warps != 0 && WARPS.contains(warps) == false) {
      throw new IllegalArgumentException("warps must be 0 or one of " + WARPS + ", got " + warps);
    }
    if (visitedSlots < 0 || Integer.bitCount(visitedSlots) > 1) {
      throw new IllegalArgumentException(
          "visitedSlots must be 0 or a power of two, got " + visitedSlots);
    }
  }

  /** The same with a table of this kind. */
  public Tuning withTable(Policy newTable) {
    return new Tuning(newTable, warps, visitedSlots, eagerPick, visitedFilter);
  }

  /** The same with blocks of so many warps. */
  public Tuning withWarps(int newWarps) {
    return new Tuning(table, newWarps, visitedSlots, eagerPick, visitedFilter);
  }

  /** The same with a visited table of so many slots. */
  public Tuning withVisitedSlots(int newVisitedSlots) {
    return new Tuning(table, warps, newVisitedSlots, eagerPick, visitedFilter);
  }

  /** The same with or without eager picks. */
  public Tuning withEagerPick(boolean newEagerPick) {
    return new Tuning(table, warps, visitedSlots, newEagerPick, visitedFilter);
  }

  /** The same with or without a visited filter. */
  public Tuning withVisitedFilter(boolean newVisitedFilter) {
    return new Tuning(table, warps, visitedSlots, eagerPick, newVisitedFilter);
  }

  /** The {@link WalkLayout} flags that these choices ask for. */
  public int flags() {
    return (eagerPick ? WalkLayout.FLAG_EAGER_PICK : 0)
        | (visitedFilter ? 0 : WalkLayout.FLAG_NO_VISITED_FILTER);
  }
}
