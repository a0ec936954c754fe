package dev.vamana.vectors;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * Squared Euclidean distances and inner products as they are, for vectors so small that Lucene's
 * scores cannot tell them apart: 1 / (1 + d) is 1 for all d below 6e-8, and so is 1 + p.
 *
 * <p>It reads each vector into an array first, so it is slower than Lucene's scorers of mapped
 * memory.
 */
public enum RawComparison {
  /** Squared Euclidean distances. */
  SQUARED_DISTANCE,
  /** Negated inner products. */
  NEGATED_PRODUCT;

  /** Vectors that are looked at to find out how small they are. */
  private static final int SAMPLE = 33;

  /**
   * Where half of the distances or products are smaller, scores have fewer than 14 of a float's 24
   * bits left for them.
   */
  private static final float SMALL = 1f / (1 << 10);

  /**
   * What the vectors of a field have to be compared by.
   *
   * @param values random access by ordinal, for the calling thread alone
   * @return null if Lucene's scores will do
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
   * Whether the median of distances between neighbours in the sample, or squared norms, is small.
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
    float median = sizes[sizes.length / 2];
    // equal vectors are as well compared by scores
    return median < SMALL && sizes[sizes.length - 1] > 0;
  }

  /** Not Lucene's, which wants numbers, and damaged files may have others. */
  private static float squaredDistance(float[] vector, float[] from) {
    float sum = 0;
    for (int d = 0; d < vector.length; d++) {
      float difference = vector[d] - (from == null ? 0 : from[d]);
      sum += difference * difference;
    }
    return sum;
  }

  /** What two vectors are compared by; smaller is nearer. */
  public float distance(float[] one, float[] other) {
    return this == SQUARED_DISTANCE
        ? VectorUtil.squareDistance(one, other)
        : -VectorUtil.dotProduct(one, other);
  }

  /** Lucene's score of a distance. */
  public float score(float distance) {
    return this == SQUARED_DISTANCE
        ? VectorUtil.normalizeDistanceToUnitInterval(distance)
        : VectorUtil.scaleMaxInnerProductScore(-distance);
  }
}
