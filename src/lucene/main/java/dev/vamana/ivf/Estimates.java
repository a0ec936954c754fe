package dev.vamana.ivf;

import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * How estimated distances relate to Lucene's scores.
 *
 * <p>Distances are squared Euclidean for EUCLIDEAN and, of unit vectors, for COSINE; they are
 * negated inner products for DOT_PRODUCT and MAXIMUM_INNER_PRODUCT.
 */
public enum Estimates {
  /** Score {@code 1 / (1 + distance)}. */
  EUCLIDEAN,
  /** Score {@code (1 + cosine) / 2}, and distance {@code 2 - 2 cosine}. */
  COSINE,
  /** Score {@code (1 - distance) / 2}. */
  UNIT_PRODUCT,
  /** Score of byte vectors, {@code 1/2 - distance / (dimension 2^15)}. */
  BYTE_PRODUCT,
  /** Score {@code 1 - distance}, or {@code 1 / (1 + distance)} for positive distances. */
  MAXIMUM_PRODUCT;

  private static final float BYTE_SCALE = 1 << 15;

  static Estimates of(VectorEncoding encoding, VectorSimilarityFunction similarity, int dimension) {
    return switch (similarity) {
      case EUCLIDEAN -> EUCLIDEAN;
      case COSINE -> COSINE;
      case DOT_PRODUCT -> encoding == VectorEncoding.BYTE ? BYTE_PRODUCT : UNIT_PRODUCT;
      case MAXIMUM_INNER_PRODUCT -> MAXIMUM_PRODUCT;
    };
  }

  /** Whether distances are negated inner products. */
  boolean products() {
    return this == UNIT_PRODUCT || this == BYTE_PRODUCT || this == MAXIMUM_PRODUCT;
  }

  /** Returns a query as lists see it: of unit length for COSINE, else as it is. */
  float[] normalized(float[] query) {
    if (this != COSINE) {
      return query;
    }
    float[] unit = query.clone();
    float square = VectorUtil.dotProduct(query, query);
    float scale = square > 0 ? (float) (1 / Math.sqrt(square)) : 1;
    for (int d = 0; d < unit.length; d++) {
      unit[d] *= scale;
    }
    return unit;
  }

  /**
   * Returns the distance of a score.
   *
   * @param score a score of the similarity, or negative infinity
   * @param dimension components of a vector
   * @return positive infinity if no vector scores less
   */
  public float distance(float score, int dimension) {
    if (score == Float.NEGATIVE_INFINITY) {
      return Float.POSITIVE_INFINITY;
    }
    return switch (this) {
      case EUCLIDEAN -> score <= 0 ? Float.POSITIVE_INFINITY : 1 / score - 1;
      case COSINE -> 4 * (1 - score);
      case UNIT_PRODUCT -> 1 - 2 * score;
      case BYTE_PRODUCT -> (0.5f - score) * dimension * BYTE_SCALE;
      case MAXIMUM_PRODUCT -> {
        if (score <= 0) {
          yield Float.POSITIVE_INFINITY;
        }
        yield score >= 1 ? 1 - score : 1 / score - 1;
      }
    };
  }
}
