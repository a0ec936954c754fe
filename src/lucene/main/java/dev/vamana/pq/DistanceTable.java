package dev.vamana.pq;

import java.util.Objects;

/**
 * Asymmetric distances of one query to codes (BANG, section 4.2). For every subspace and centroid
 * the table holds the centroid's contribution, so the distance of a code is the sum of one entry
 * per subspace (section 4.5).
 *
 * <p>The table has {@code m * 256} floats, {@code m} KiB; the entry of centroid {@code c} of
 * subspace {@code s} is at {@code s * 256 + c}. One thread uses an instance for one query after the
 * other.
 */
public final class DistanceTable {

  /** The distance that the table's sums represent; smaller is nearer. */
  public enum Metric {
    /** Squared Euclidean distance of the query to the decoded vector. */
    SQUARED_L2,
    /** Inner product of the query and the decoded vector, negated. */
    NEGATED_INNER_PRODUCT
  }

  private static final int CENTROIDS = Codebook.CENTROIDS;

  private final SubspaceLayout layout;
  private final Metric metric;
  private final float[][] columns;
  private final float[] row = new float[CENTROIDS];
  private final float[] table;

  /** Makes an empty table. {@link #setQuery} has to be called before {@link #distance}. */
  public DistanceTable(Codebook codebook, Metric metric) {
    this.layout = codebook.layout();
    this.metric = Objects.requireNonNull(metric, "metric");
    this.columns = codebook.columns();
    this.table = new float[layout.count() * CENTROIDS];
  }

  /** Makes a table for one query. */
  public DistanceTable(Codebook codebook, Metric metric, float[] query) {
    this(codebook, metric);
    setQuery(query);
  }

  /**
   * Fills the table for {@code query}.
   *
   * @param query {@code dims} floats
   * @throws IllegalArgumentException if the query has another dimension
   */
  public void setQuery(float[] query) {
    if (query.length != layout.dims()) {
      throw new IllegalArgumentException(
          "query must have " + layout.dims() + " dims, got " + query.length);
    }
    for (int s = 0; s < layout.count(); s++) {
      int from = layout.offset(s);
      int length = layout.length(s);
      if (metric == Metric.SQUARED_L2) {
        CentroidKernels.squaredDistances(columns, from, length, query, from, row);
      } else {
        CentroidKernels.innerProducts(columns, from, length, query, from, -1, row);
      }
      System.arraycopy(row, 0, table, s * CENTROIDS, CENTROIDS);
    }
  }

  /**
   * Returns the distance of the query to a code.
   *
   * @param code holds {@code layout.count()} bytes from {@code offset} on
   */
  public float distance(byte[] code, int offset) {
    int m = layout.count();
    Objects.checkFromIndexSize(offset, m, code.length);
    // Four sums, because the additions of a single one would wait for each other.
    float sum0 = 0;
    float sum1 = 0;
    float sum2 = 0;
    float sum3 = 0;
    int s = 0;
    for (; s + 4 <= m; s += 4) {
      int at = s * CENTROIDS;
      sum0 += table[at + (code[offset + s] & 0xFF)];
      sum1 += table[at + CENTROIDS + (code[offset + s + 1] & 0xFF)];
      sum2 += table[at + 2 * CENTROIDS + (code[offset + s + 2] & 0xFF)];
      sum3 += table[at + 3 * CENTROIDS + (code[offset + s + 3] & 0xFF)];
    }
    for (; s < m; s++) {
      sum0 += table[s * CENTROIDS + (code[offset + s] & 0xFF)];
    }
    return (sum0 + sum1) + (sum2 + sum3);
  }

  /** Returns the distance that the sums represent. */
  public Metric metric() {
    return metric;
  }

  /**
   * Returns the table itself, {@code m * 256} floats, which the next {@link #setQuery} overwrites.
   * It must not be changed.
   */
  public float[] entries() {
    return table;
  }
}
