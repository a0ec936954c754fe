package dev.vamana.tools.datasets;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * A named set of vectors with queries and their exact neighbours.
 *
 * <p>{@link #load} keeps the vectors as they are in the files. With {@link Metric#COSINE} they may
 * have any length and are compared by {@link VectorSimilarityFunction#COSINE}; {@link #normalized}
 * converts them to the form in which Elasticsearch hands such vectors to a format.
 *
 * @param name name in tables and plots
 * @param metric the metric that defines near
 * @param similarity Lucene's similarity that orders these vectors by the metric
 * @param base the vectors to index; an ordinal is a row of this table
 * @param queries the queries, with the same dimension as the base
 * @param groundTruth the exact neighbours of every query
 */
public record VectorSet(
    String name,
    Metric metric,
    VectorSimilarityFunction similarity,
    VectorTable base,
    VectorTable queries,
    GroundTruth groundTruth) {

  /** Depth of computed ground truth, in neighbours per query. */
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

  /** Makes a set in memory and computes its ground truth. */
  public static VectorSet of(String name, Metric metric, VectorTable base, VectorTable queries) {
    return new VectorSet(
        name,
        metric,
        metric.similarity(),
        base,
        queries,
        ExactSearch.groundTruth(metric, base.rows(), queries.rows(), GROUND_TRUTH_DEPTH));
  }

  /** Reads a whole set with the metric in its {@code meta.json}, or l2 without one. */
  public static VectorSet load(Path folder) throws IOException {
    return load(folder, null, Integer.MAX_VALUE);
  }

  /**
   * Reads a set from a folder with the files {@code base} and {@code query} (each {@code .fvecs},
   * {@code .bvecs} or {@code .npy}) and optionally {@code groundtruth.ivecs} and {@code meta.json}.
   * Names may have a prefix that ends in an underscore, as in {@code sift_base.fvecs}. The ground
   * truth of a metric other than the one in {@code meta.json} is read from {@code
   * groundtruth_<metric>.ivecs}. Ground truth is computed if it is missing, or if the limit
   * excludes some of its neighbours.
   *
   * @param metric metric to use, or null for the one in {@code meta.json}, l2 without one
   * @param limit most base vectors to read, at least 1
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
   * Returns the set with vectors and queries scaled to unit length and {@link
   * VectorSimilarityFunction#DOT_PRODUCT}, which orders them as the cosine does at a third of the
   * work. Returns sets with another metric unchanged.
   */
  public VectorSet normalized() {
    if (metric != Metric.COSINE || similarity == VectorSimilarityFunction.DOT_PRODUCT) {
      return this;
    }
    VectorTable unitBase = unit(base);
    VectorTable unitQueries = unit(queries);
    // scaling rounds, so compute the distances of the scaled vectors
    GroundTruth truth = GroundTruth.of(name, groundTruth.ordinals(), metric, unitBase, unitQueries);
    return new VectorSet(
        name, metric, VectorSimilarityFunction.DOT_PRODUCT, unitBase, unitQueries, truth);
  }

  /**
   * Returns a set compared by cosine whose vectors and queries have unit length already, with
   * {@link VectorSimilarityFunction#DOT_PRODUCT}.
   */
  public VectorSet ofUnitLength() {
    return new VectorSet(
        name, metric, VectorSimilarityFunction.DOT_PRODUCT, base, queries, groundTruth);
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
