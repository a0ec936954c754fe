package dev.vamana.elasticsearch.monitor.recall;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The recall of queries that were asked in the same way, and what they cost.
 *
 * @param queries number of queries, weighted: see {@link #plus}
 * @param sum sum of the queries' recalls, each from 0 to 1
 * @param squares sum of the squares of their recalls
 * @param distances sum of the distances that they computed
 * @param nanos sum of their times
 */
record Tally(double queries, double sum, double squares, double distances, double nanos)
    implements Writeable {

  static final Tally NONE = new Tally(0, 0, 0, 0, 0);

  /** Number of queries at which a tally is halved, so that new queries count for more than old. */
  static final int MEMORY = 2_000;

  /** 1.96 standard deviations: an interval that holds the true value 19 times in 20. */
  private static final double DEVIATIONS = 1.96;

  /** An interval of recall, from 0 to 1. */
  record Interval(double low, double high) {}

  Tally(StreamInput in) throws IOException {
    this(in.readDouble(), in.readDouble(), in.readDouble(), in.readDouble(), in.readDouble());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeDouble(queries);
    out.writeDouble(sum);
    out.writeDouble(squares);
    out.writeDouble(distances);
    out.writeDouble(nanos);
  }

  /** Returns this tally with one more query; at {@value #MEMORY} queries all weigh half. */
  Tally plus(double recall, long visited, long tookNanos) {
    double weight = queries >= MEMORY ? 0.5 : 1;
    return new Tally(
        weight * queries + 1,
        weight * sum + recall,
        weight * squares + recall * recall,
        weight * distances + visited,
        weight * nanos + tookNanos);
  }

  /** Returns the tally of the queries of both. */
  Tally plus(Tally other) {
    return new Tally(
        queries + other.queries,
        sum + other.sum,
        squares + other.squares,
        distances + other.distances,
        nanos + other.nanos);
  }

  /** Mean recall; 0 without a query. */
  double recall() {
    return queries == 0 ? 0 : sum / queries;
  }

  /**
   * Returns where the mean recall of all searches is, 19 times in 20: Wilson's interval for a share
   * of as many independent trials as have the variance that the queries showed. The neighbours of
   * one query are found or missed together, so they are not independent trials.
   */
  Interval interval() {
    if (queries == 0) {
      return new Interval(0, 1);
    }
    double share = recall();
    double variance = Math.max(0, squares / queries - share * share);
    double trials = variance > 1e-12 ? queries * share * (1 - share) / variance : queries;
    double z2 = DEVIATIONS * DEVIATIONS / trials;
    double centre = (share + z2 / 2) / (1 + z2);
    double half = DEVIATIONS / (1 + z2) * Math.sqrt((share * (1 - share) + z2 / 4) / trials);
    return new Interval(Math.max(0, centre - half), Math.min(1, centre + half));
  }
}
