package dev.vamana.elasticsearch.monitor.recall;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The recall of several queries.
 *
 * @param queries number of queries, weighted: see {@link #plus}
 * @param sum sum of the queries' recalls, each from 0 to 1
 * @param squares sum of the squares of their recalls
 */
public record Tally(double queries, double sum, double squares) implements Writeable {

  static final Tally NONE = new Tally(0, 0, 0);

  /** Number of queries at which a tally is halved, so that new queries count for more than old. */
  static final int MEMORY = 2_000;

  /** 1.96 standard deviations: an interval that holds the true value 19 times in 20. */
  private static final double DEVIATIONS = 1.96;

  /** An interval of recall, from 0 to 1. */
  record Interval(double low, double high) {}

  /** Reads what {@link #writeTo} wrote. */
  public Tally(StreamInput in) throws IOException {
    this(in.readDouble(), in.readDouble(), in.readDouble());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeDouble(queries);
    out.writeDouble(sum);
    out.writeDouble(squares);
  }

  /** Returns this tally with one more query; at {@value #MEMORY} queries all weigh half. */
  Tally plus(double recall) {
    double weight = queries >= MEMORY ? 0.5 : 1;
    return new Tally(
        weight * queries + 1, weight * sum + recall, weight * squares + recall * recall);
  }

  /** Returns the tally of the queries of both. */
  public Tally plus(Tally other) {
    return new Tally(queries + other.queries, sum + other.sum, squares + other.squares);
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

  /** The members of statistics: number of queries, mean recall, and both ends of its interval. */
  public Map<String, Object> figures() {
    Interval interval = interval();
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("queries", Math.round(queries));
    figures.put("recall", rounded(recall()));
    figures.put("recall_low", rounded(interval.low()));
    figures.put("recall_high", rounded(interval.high()));
    return figures;
  }

  private static double rounded(double value) {
    return Math.round(value * 10_000) / 10_000.0;
  }
}
