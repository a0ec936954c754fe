package dev.vamana.pq;

import java.util.Objects;

/**
 * Asymmetric distances of one query to codes (BANG section 4.2): for every subspace and centroid
 * the table holds the part that this centroid contributes, so that the distance of a code is a sum
 * of one entry a subspace (section 4.5).
 *
 * <p>The table has {@code m * 256} floats; the entry of centroid {@code c} of subspace {@code s} is
 * at {@code s * 256 + c}. An instance is reused from query to query by one thread. Its memory is
 * {@code m} KiB.
 */
public final class DistanceTable {

  /** What the table's sums are. Smaller is nearer in both. */
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

  /** An empty table: {@link #setQuery} comes before any distance. */
  public DistanceTable(Codebook codebook, Metric metric) {
    this.layout = codebook.layout();
    this.metric = Objects.requireNonNull(metric, "metric");
    this.columns = codebook.columns();
    this.table = new float[layout.count() * CENTROIDS];
  }

  /** A table for one query. */
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
   * The distance of the query to a code.
   *
   * @param code holds {@code layout.count()} bytes from {@code offset} on
   */
  public float distance(byte[] code, int offset) {
    int m = layout.count();
    Objects.checkFromIndexSize(offset, m, code.length);
    // Four sums, since one chain of dependent additions would wait for each of them.
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

  /** What the sums are. */
  public Metric metric() {
    return metric;
  }

  /**
   * The table itself, {@code m * 256} floats; overwritten by the next {@link #setQuery}, read only.
   */
  public float[] entries() {
    return table;
  }
}
