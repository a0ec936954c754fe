package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.lang.foreign.MemorySegment;
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
  final int k;
  private final int rerank;
  SegmentFiles files;
  private int[] expanded;
  private int expandedCount;
  private int[] candidates = new int[0];
  int candidateCount;
  private volatile Exception failure;
  private final BooleanSupplier left;
  private volatile boolean unwanted;
  private boolean cancelled;
  boolean corrupt;
  private long visited;
  private int iterations;
  private boolean complete;
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
    this.k = Math.min(item.k(), beam);
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

  /** Sets the result, which is corrupt if the segment does not have one of the ordinals. */
  void finish(int[] ordinals, float[] scores) {
    for (int ordinal : ordinals) {
      corrupt |= ordinal < 0 || ordinal >= item.segment().size();
    }
    result =
        corrupt
            ? DeviceResult.corrupt(visited, iterations)
            : new DeviceResult(
                ordinals, scores, visited, iterations, complete && cancelled == false, false, null);
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

  /** Records the work of the walk, and whether it ended by itself. */
  void walked(long visitedNodes, int steps, boolean byItself) {
    visited = visitedNodes;
    iterations = steps;
    complete = byItself;
  }

  /**
   * Chooses the candidates: the accepted expanded nodes, or the best accepted entries of the
   * worklist.
   *
   * @param size entries of the worklist
   * @param list maps a rank in the worklist to its ordinal
   */
  void choose(int size, IntUnaryOperator list) {
    if (expanded != null) {
      candidates = expanded;
      for (int i = 0; i < expandedCount; i++) {
        if (accepts(expanded[i])) {
          candidates[candidateCount++] = expanded[i];
        }
      }
      return;
    }
    candidates = new int[Math.min(rerank, size)];
    for (int rank = 0; rank < size && candidateCount < candidates.length; rank++) {
      int ordinal = list.applyAsInt(rank);
      if (ordinal >= item.segment().size()) {
        corrupt = true;
        candidateCount = 0;
        return;
      }
      if (accepts(ordinal)) {
        candidates[candidateCount++] = ordinal;
      }
    }
  }

  int candidate(int i) {
    return candidates[i];
  }

  /** Copies the raw vector of a node; a failure becomes the slot's. */
  void copyVector(int node, MemorySegment target, long at, int worker) {
    try {
      if (failure == null) {
        files.copyVector(node, target, at, worker);
      }
    } catch (Exception e) {
      fail(e);
    }
  }

  private boolean accepts(int ordinal) {
    Bits accepted = item.acceptedOrdinals();
    return accepted == null || accepted.get(ordinal);
  }
}
