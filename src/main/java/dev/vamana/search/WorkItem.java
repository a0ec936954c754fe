package dev.vamana.search;

import java.util.function.BooleanSupplier;
import org.apache.lucene.util.Bits;

/**
 * One query over one segment.
 *
 * @param segment what is searched
 * @param query the query's vector, of the segment's encoding and dimension
 * @param k most hits wanted, at least 1
 * @param walk how a graph is walked
 * @param acceptedOrdinals ordinals that may be hits, readable by any thread, or null for all
 * @param acceptedCount about how many ordinals are accepted
 * @param visitLimit most distances that may be computed before the search ends incomplete
 * @param cancelled asked now and then, by one thread at a time, while the caller waits; true ends
 *     the search incomplete
 * @param entryPoints ordinals to start from beside the medoid; may be empty
 */
public record WorkItem(
    SegmentView segment,
    QueryVector query,
    int k,
    WalkParameters walk,
    Bits acceptedOrdinals,
    int acceptedCount,
    long visitLimit,
    BooleanSupplier cancelled,
    int[] entryPoints) {

  /** Deviations from the expected number of accepted nodes that a worklist allows for. */
  private static final double DEVIATIONS = 4;

  public WorkItem {
    if (k < 1) {
      throw new IllegalArgumentException("k must be at least 1, got " + k);
    }
    if (query.encoding() != segment.encoding()) {
      throw new IllegalArgumentException(
          segment.name()
              + " holds "
              + segment.encoding()
              + " vectors, the query is "
              + query.encoding());
    }
    if (query.dimension() != segment.dimension()) {
      throw new IllegalArgumentException(
          segment.name()
              + " has dimension "
              + segment.dimension()
              + ", the query has "
              + query.dimension());
    }
  }

  /**
   * Capacity of the worklist: the beam, at least k, widened by how few ordinals are accepted; and
   * at least so wide that it is very unlikely to hold fewer than k of them, since such a walk would
   * have to be a scan. Of t nodes of which a share s is accepted at random, t s are expected, with
   * a deviation of the square root of t s (1 - s).
   */
  public int effectiveBeamWidth() {
    double beam = Math.max(walk.beamWidth(), k);
    int accepted = Math.max(1, Math.min(acceptedCount, segment.size()));
    if (acceptedOrdinals != null && accepted < segment.size()) {
      double share = accepted / (double) segment.size();
      double margin = DEVIATIONS * Math.sqrt(1 - share);
      double root = (margin + Math.sqrt(margin * margin + 4.0 * k)) / 2;
      beam = Math.max(Math.floor(beam / share), Math.ceil(root * root / share));
    }
    return (int)
        Math.max(1, Math.min(beam, Math.min(segment.size(), WalkParameters.MAX_BEAM_WIDTH)));
  }

  /** The same item, which may compute as many distances as it takes. */
  WorkItem withoutVisitLimit() {
    return new WorkItem(
        segment,
        query,
        k,
        walk,
        acceptedOrdinals,
        acceptedCount,
        Long.MAX_VALUE,
        cancelled,
        entryPoints);
  }
}
