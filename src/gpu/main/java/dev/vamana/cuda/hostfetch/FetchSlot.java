package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.function.IntUnaryOperator;
import org.apache.lucene.util.Bits;

/**
 * The state of one item during its walk. The driving thread and one gathering thread at a time use
 * it. {@link FetchTicket} has one for each of its items.
 */
final class FetchSlot {

  private static final int FEW = 32;

  final WorkItem item;
  final ResidentSegment segment;
  final int beam;
  private final int rerank;
  SegmentFiles files;
  private int[] expanded;
  private int expandedCount;
  private volatile Exception failure;
  private final BooleanSupplier left;
  private volatile boolean unwanted;
  private boolean cancelled;
  boolean corrupt;
  DeviceResult result;

  /**
   * Makes a slot.
   *
   * @param left whether the caller has left
   */
  FetchSlot(WorkItem item, ResidentSegment segment, BooleanSupplier left) {
    this.left = left;
    this.item = item;
    this.segment = segment;
    this.beam = item.effectiveBeamWidth();
    int k = Math.min(item.k(), beam);
    boolean all = item.walk().rerankDepth() == WalkParameters.RERANK_EXPANDED;
    this.rerank = all ? -1 : Math.min(beam, item.walk().rerankDepth(k));
    this.expanded = all ? new int[FEW] : null;
  }

  /**
   * Whether the item takes no further part in the batch, also because nobody wants its result.
   * Callers, not this thread, ask for cancellations.
   */
  boolean dropped() {
    cancelled |= unwanted || left.getAsBoolean();
    return cancelled || corrupt || failure != null;
  }

  /** Returns why the item could not be searched, or null. */
  Exception failure() {
    return failure;
  }

  void fail(Exception e) {
    if (failure == null) {
      failure = e;
    }
  }

  /** Marks the result as not wanted. Called by the caller's thread. */
  void unwanted() {
    unwanted = true;
  }

  /** Records an expanded node, unless only entries of the worklist are re-ranked. */
  void expand(int ordinal) {
    if (expanded == null) {
      return;
    }
    if (expandedCount == expanded.length) {
      expanded = Arrays.copyOf(expanded, 2 * expandedCount);
    }
    expanded[expandedCount++] = ordinal;
  }

  /**
   * Sets the result: candidates for re-ranking. These are the accepted expanded nodes, or the best
   * accepted entries of the worklist.
   *
   * @param visited number of nodes whose distance was computed
   * @param steps steps of the walk
   * @param byItself whether the walk ended by itself
   * @param size entries of the worklist; -1 if the state is corrupt
   * @param list maps a rank in the worklist to its ordinal
   */
  void finish(long visited, int steps, boolean byItself, int size, IntUnaryOperator list) {
    corrupt |= size < 0;
    int[] candidates = corrupt ? new int[0] : candidates(size, list);
    boolean complete = byItself && cancelled == false;
    result =
        corrupt
            ? DeviceResult.corrupt(visited, steps)
            : new DeviceResult(
                candidates, new float[candidates.length], visited, steps, complete, true, null);
  }

  private int[] candidates(int size, IntUnaryOperator list) {
    boolean all = expanded != null;
    int most = all ? expandedCount : size;
    int[] candidates = new int[all ? most : Math.min(rerank, size)];
    int count = 0;
    for (int i = 0; i < most && count < candidates.length; i++) {
      int ordinal = all ? expanded[i] : list.applyAsInt(i);
      if (ordinal >= item.segment().size()) {
        corrupt = true;
        return candidates;
      }
      if (accepts(ordinal)) {
        candidates[count++] = ordinal;
      }
    }
    return Arrays.copyOf(candidates, count);
  }

  private boolean accepts(int ordinal) {
    Bits accepted = item.acceptedOrdinals();
    return accepted == null || accepted.get(ordinal);
  }
}
