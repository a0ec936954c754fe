package dev.vamana.cuda.scan;

import dev.vamana.cuda.exact.ExactScans;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.Ticket;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.QueryVector;
import java.util.List;
import org.apache.lucene.util.Bits;

/**
 * The ticket of a {@link ScanLane}: queries over one segment with the same parameters, from one
 * call.
 */
public final class ScanTicket extends Ticket {

  /**
   * Common properties of the queries.
   *
   * @param segment the segment, whose rows the device can read
   * @param accepted ordinals that may be hits, readable by any thread, or null for all
   * @param acceptedCount number of accepted ordinals
   * @param gather whether only the accepted vectors are read, by ordinal
   * @param k most hits of a query, 1 to {@value ScanLane#MAX_K}
   */
  public record Job(
      ResidentSegment segment, Bits accepted, int acceptedCount, boolean gather, int k) {

    /** Whether queries of both jobs can be searched in one batch. */
    @Override
    @SuppressWarnings("ReferenceEquality") // the same bitset object, not an equal one
    public boolean equals(Object other) {
      return other instanceof Job job
          && segment.view() == job.segment.view()
          && accepted == job.accepted
          && gather == job.gather
          && k == job.k;
    }

    @Override
    public int hashCode() {
      return 31 * System.identityHashCode(segment.view()) + System.identityHashCode(accepted);
    }

    /** Whether a launch can search this with other segments. */
    boolean oneOfMany() {
      return gather == false && ExactScans.few(1, k);
    }
  }

  private final Job job;
  private final List<QueryVector> queries;
  private final int[][] ordinals;
  private final float[][] scores;

  /**
   * Makes a ticket of the calling thread, and holds the segment.
   *
   * @param indices indices of the items in their call
   * @param queries vectors of the segment's encoding and dimension, one for each item
   */
  public ScanTicket(Job job, int[] indices, List<QueryVector> queries) {
    super(hold(List.of(job.segment())), indices);
    this.job = job;
    this.queries = queries;
    this.ordinals = new int[indices.length][];
    this.scores = new float[indices.length][];
  }

  Job job() {
    return job;
  }

  List<QueryVector> queries() {
    return queries;
  }

  void found(int query, int[] ownOrdinals, float[] ownScores) {
    ordinals[query] = ownOrdinals;
    scores[query] = ownScores;
  }

  @Override
  public DeviceResult result(int i) {
    int size = job.segment().view().size();
    for (int ordinal : ordinals[i]) {
      if (ordinal < 0 || ordinal >= size) {
        return DeviceResult.corrupt(job.acceptedCount(), 0);
      }
    }
    return new DeviceResult(ordinals[i], scores[i], job.acceptedCount(), 0, true, false, null);
  }
}
