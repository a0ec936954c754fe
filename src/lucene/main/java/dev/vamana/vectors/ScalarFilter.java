package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Leaves out vectors that are probably farther from a query than a bound, by their {@link
 * ScalarCodes}. For one query on one thread.
 */
public final class ScalarFilter {

  private final ScalarCodes.Rows rows;
  private final VectorSimilarityFunction similarity;
  private final ScalarQuery query;
  private final float margin;
  // of the query itself; only for unit vectors
  private final float squaredLength;
  private float[] products = new float[0];
  private float[] norms = new float[0];
  // of the kept ordinals, in their order
  private float[] estimates = new float[0];

  /**
   * Makes a filter.
   *
   * @param squaredLength of the query; any number for EUCLIDEAN
   * @param margin by how much of the lengths of both vectors a product may be larger than estimated
   */
  ScalarFilter(
      ScalarCodes.Rows rows,
      VectorSimilarityFunction similarity,
      ScalarQuery query,
      float squaredLength,
      float margin) {
    this.rows = rows;
    this.similarity = similarity;
    this.query = query;
    this.squaredLength = squaredLength;
    this.margin = margin;
  }

  /**
   * Keeps the ordinals whose score may be at least a bound, in their order.
   *
   * @param ordinals candidates; the kept ones come first afterwards
   * @param count number of candidates
   * @param leftOut receives the other ordinals, from {@code at} on; has room for {@code count}
   * @param worst the lowest score that matters
   * @return the number of kept ordinals
   */
  public int keep(int[] ordinals, int count, int[] leftOut, int at, float worst)
      throws IOException {
    if (norms.length < count) {
      products = new float[count];
      norms = new float[count];
      estimates = new float[count];
    }
    rows.read(ordinals, count, query, products, norms);
    float norm = query.norm();
    float squaredNorm = norm * norm;
    float largest = norm * margin;
    float bound = squaredDistance(worst);
    int kept = 0;
    int left = at;
    for (int i = 0; i < count; i++) {
      float other = norms[i];
      float estimate = squaredNorm + other * (other - 2 * largest) - 2 * products[i];
      int ordinal = ordinals[i];
      // No branch, since it cannot be predicted which are kept. Not "<=", for damaged vectors.
      int far = estimate > bound ? 1 : 0;
      ordinals[kept] = ordinal;
      estimates[kept] = estimate;
      leftOut[left] = ordinal;
      kept += 1 - far;
      left += far;
    }
    return kept;
  }

  /**
   * Sorts what the last call of {@link #keep} has kept, nearest first, by estimates.
   *
   * @param ordinals the kept ordinals
   * @param count how many there are
   */
  public void sort(int[] ordinals, int count) {
    // a few ordinals, so insertion sort
    for (int i = 1; i < count; i++) {
      float estimate = estimates[i];
      int ordinal = ordinals[i];
      int at = i;
      while (at > 0 && estimates[at - 1] > estimate) {
        estimates[at] = estimates[at - 1];
        ordinals[at] = ordinals[at - 1];
        at--;
      }
      estimates[at] = estimate;
      ordinals[at] = ordinal;
    }
  }

  /**
   * Returns how many of the {@linkplain #sort sorted} ordinals may have at least a score: the first
   * ones.
   *
   * @param count how many there are
   * @param worst the lowest score that matters now
   */
  public int within(int count, float worst) {
    float bound = squaredDistance(worst);
    int within = count;
    while (within > 0 && estimates[within - 1] > bound) {
      within--;
    }
    return within;
  }

  /** Squared distance of vectors with this score; of unit vectors unless it is Euclidean. */
  private float squaredDistance(float score) {
    return similarity == VectorSimilarityFunction.EUCLIDEAN
        ? 1 / score - 1
        : squaredLength + 1 - 2 * (2 * score - 1);
  }
}
