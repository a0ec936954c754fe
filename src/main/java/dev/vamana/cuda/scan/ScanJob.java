package dev.vamana.cuda.scan;

import dev.vamana.cuda.batch.HeldSegment;
import dev.vamana.search.QueryVector;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.apache.lucene.util.Bits;

/**
 * A request to the {@link ScanLane}: queries over one segment with the same parameters.
 *
 * @param segment the segment; the device can read its rows unless {@code file} is set
 * @param file the vectors in ordinal order, densely packed, which are streamed to the device; null
 *     if the device reads them in place. It is read until the job has ended or is closed
 * @param accepted ordinals that may be hits, readable by any thread, or null for all
 * @param acceptedCount number of accepted ordinals
 * @param gather whether only the accepted vectors are read, by ordinal
 * @param k most hits of a query, 1 to {@value ScanLane#MAX_K}
 * @param queries vectors of the segment's encoding and dimension
 * @param nanos predicted duration, without waiting for other jobs
 */
public record ScanJob(
    HeldSegment segment,
    MemorySegment file,
    Bits accepted,
    int acceptedCount,
    boolean gather,
    int k,
    List<QueryVector> queries,
    double nanos) {

  /** Whether both jobs can be searched in one batch. */
  @SuppressWarnings("ReferenceEquality") // the same bitset object, not an equal one
  boolean alike(ScanJob other) {
    return segment.view() == other.segment.view()
        && (file == null) == (other.file == null)
        && accepted == other.accepted
        && gather == other.gather
        && k == other.k;
  }
}
