package dev.vamana.cuda.scan;

import dev.vamana.cuda.batch.HeldSegment;
import dev.vamana.search.QueryVector;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.apache.lucene.util.Bits;

/**
 * Queries over one segment that want the same.
 *
 * @param segment what is searched; its rows can be read by the device, unless there is a file
 * @param file the vectors in ordinal order, one after the other, which are brought to the device;
 *     null if it reads them where they are. It is read until the job has ended, or is closed
 * @param accepted ordinals that may be hits, readable by any thread, or null for all
 * @param acceptedCount how many there are
 * @param gather whether only the accepted vectors are read, by ordinal
 * @param k most hits of a query, 1 to {@value ScanLane#MAX_K}
 * @param queries vectors of the segment's encoding and dimension
 * @param nanos how long this is predicted to take, without waiting for others
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

  /** Whether both can be searched at once. */
  @SuppressWarnings("ReferenceEquality") // the same bitset, not one that happens to be equal
  boolean alike(ScanJob other) {
    return segment.view() == other.segment.view()
        && (file == null) == (other.file == null)
        && accepted == other.accepted
        && gather == other.gather
        && k == other.k;
  }
}
