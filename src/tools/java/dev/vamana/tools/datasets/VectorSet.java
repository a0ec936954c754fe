package dev.vamana.tools.datasets;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * A named set of vectors with queries and their exact neighbours.
 *
 * <p>Vectors are as the files hold them. For {@link Metric#COSINE} that means any length and {@link
 * VectorSimilarityFunction#COSINE}; {@link #normalized} gives the form in which Elasticsearch hands
 * such vectors to a format.
 *
 * @param name for tables and plots
 * @param metric what near means
 * @param similarity Lucene's similarity that orders these vectors by the metric
 * @param base the vectors to index; an ordinal is a row of this table
 * @param queries of the same dimension
 * @param groundTruth of every query
 */
public record VectorSet(
    String name,
    Metric metric,
    VectorSimilarityFunction similarity,
    VectorTable base,
    VectorTable queries,
    GroundTruth groundTruth) {

  /** Neighbours of each query that computed ground truth holds. */
  public static final int GROUND_TRUTH_DEPTH = 100;

  public VectorSet {
    Objects.requireNonNull(name);
    Objects.requireNonNull(metric);
    Objects.requireNonNull(similarity);
    if (base.dimension() != queries.dimension()) {
      throw new IllegalArgumentException(
          name
              + ": base vectors have dimension "
              + base.dimension()
              + ", queries have "
              + queries.dimension());
    }
    if (groundTruth.ordinals().length != queries.size()) {
      throw new IllegalArgumentException(
          name
              + ": ground truth of "
              + groundTruth.ordinals().length
              + " queries, there are "
              + queries.size());
    }
  }

  /** A set made in memory; its ground truth is computed. */
  public static VectorSet of(String name, Metric metric, VectorTable base, VectorTable queries) {
    return new VectorSet(
        name,
        metric,
        metric.similarity(),
        base,
        queries,
        ExactSearch.groundTruth(metric, base.rows(), queries.rows(), GROUND_TRUTH_DEPTH));
  }

  /** Reads a whole set with the metric its {@code meta.json} names, l2 without one. */
  public static VectorSet load(Path folder) throws IOException {
    return load(folder, null, Integer.MAX_VALUE);
  }

  /**
   * Reads a set: {@code base}, {@code query} (each {@code .fvecs}, {@code .bvecs} or {@code .npy}),
   * and optionally {@code groundtruth.ivecs} and {@code meta.json}. Names may carry a prefix that
   * ends in an underscore, as in {@code sift_base.fvecs}. For a metric other than that of {@code
   * meta.json} the ground truth is {@code groundtruth_<metric>.ivecs}. Ground truth that is missing
   * or made useless by the limit is computed.
   *
   * @param metric null to take that of {@code meta.json}, l2 without one
   * @param limit base vectors to read at most, at least 1
   * @throws IllegalArgumentException if a file is missing, malformed, or contradicts another
   */
  public static VectorSet load(Path folder, Metric metric, int limit) throws IOException {
    return VectorFolder.load(folder, metric, limit);
  }

  /** Components of every vector. */
  public int dimension() {
    return base.dimension();
  }

  /**
   * The same set with vectors and queries scaled to unit length and {@link
   * VectorSimilarityFunction#DOT_PRODUCT}, which orders them like the cosine at a third of its
   * work; sets of other metrics as they are.
   */
  public VectorSet normalized() {
    if (metric != Metric.COSINE || similarity == VectorSimilarityFunction.DOT_PRODUCT) {
      return this;
    }
    VectorTable unitBase = unit(base);
    VectorTable unitQueries = unit(queries);
    // Scaling rounds, so distances are taken anew from what will be searched.
    GroundTruth truth = GroundTruth.of(name, groundTruth.ordinals(), metric, unitBase, unitQueries);
    return new VectorSet(
        name, metric, VectorSimilarityFunction.DOT_PRODUCT, unitBase, unitQueries, truth);
  }

  private static VectorTable unit(VectorTable table) {
    float[][] rows = new float[table.size()][];
    for (int i = 0; i < rows.length; i++) {
      float[] row = table.rows()[i].clone();
      double norm = Math.sqrt(-Metric.IP.distance(row, row));
      for (int j = 0; norm > 0 && j < row.length; j++) {
        row[j] = (float) (row[j] / norm);
      }
      rows[i] = row;
    }
    return new VectorTable(ElementType.FLOAT32, table.dimension(), rows);
  }
}
