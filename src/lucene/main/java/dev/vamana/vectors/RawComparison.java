package dev.vamana.vectors;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * Compares vectors by squared Euclidean distances or inner products instead of Lucene's scores.
 * Scores of very small vectors are equal: 1 / (1 + d) and 1 + p are 1 for all d and p below 6e-8.
 *
 * <p>It reads each vector into an array first, so it is slower than Lucene's scorers, which read
 * mapped memory.
 */
public enum RawComparison {
  /** Squared Euclidean distances. */
  SQUARED_DISTANCE,
  /** Negated inner products. */
  NEGATED_PRODUCT;

  /** Number of vectors whose size is measured. */
  private static final int SAMPLE = 33;

  /**
   * Median size below which scores are too coarse: they have fewer than 14 of a float's 24 bits for
   * distances or products of this size.
   */
  private static final float SMALL = 1f / (1 << 10);

  /**
   * Returns the comparison that the vectors of a field need.
   *
   * @param values random access by ordinal, for use by the calling thread only
   * @return null if Lucene's scores are precise enough
   */
  public static RawComparison neededFor(KnnVectorValues values, VectorSimilarityFunction similarity)
      throws IOException {
    if (values instanceof FloatVectorValues floats && values.size() > 1) {
      if (similarity == VectorSimilarityFunction.EUCLIDEAN) {
        return isSmall(floats, SQUARED_DISTANCE) ? SQUARED_DISTANCE : null;
      }
      if (similarity == VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT) {
        return isSmall(floats, NEGATED_PRODUCT) ? NEGATED_PRODUCT : null;
      }
    }
    return null;
  }

  /**
   * Whether the median is small: of the distances between successive sampled vectors that differ,
   * or of the squared norms that are not 0.
   */
  private static boolean isSmall(FloatVectorValues values, RawComparison comparison)
      throws IOException {
    int count = Math.min(SAMPLE, values.size());
    float[] sizes = new float[count - 1];
    float[] last = values.vectorValue(0).clone();
    for (int i = 1; i < count; i++) {
      int ordinal = (int) ((long) i * (values.size() - 1) / (count - 1));
      float[] vector = values.vectorValue(ordinal).clone();
      sizes[i - 1] = squaredDistance(vector, comparison == SQUARED_DISTANCE ? last : null);
      last = vector;
    }
    Arrays.sort(sizes);
    int equal = 0;
    while (equal < sizes.length && sizes[equal] == 0) {
      equal++;
    }
    // scores compare equal vectors just as well, and tell nothing of the others
    return equal < sizes.length && sizes[equal + (sizes.length - equal) / 2] < SMALL;
  }

  /**
   * Computes a squared distance. Lucene's method asserts finite values, but damaged files may have
   * others.
   */
  private static float squaredDistance(float[] vector, float[] from) {
    float sum = 0;
    for (int d = 0; d < vector.length; d++) {
      float difference = vector[d] - (from == null ? 0 : from[d]);
      sum += difference * difference;
    }
    return sum;
  }

  /** Returns the distance of two vectors; smaller is nearer. */
  public float distance(float[] one, float[] other) {
    return this == SQUARED_DISTANCE
        ? VectorUtil.squareDistance(one, other)
        : -VectorUtil.dotProduct(one, other);
  }

  /** Returns Lucene's score of a distance. */
  public float score(float distance) {
    return this == SQUARED_DISTANCE
        ? VectorUtil.normalizeDistanceToUnitInterval(distance)
        : VectorUtil.scaleMaxInnerProductScore(-distance);
  }
}
