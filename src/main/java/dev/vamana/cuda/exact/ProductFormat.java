package dev.vamana.cuda.exact;

import dev.vamana.cuda.kernel.ExactLimits;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * What products are made of.
 *
 * @param number of the format
 * @param scale what components are multiplied by in half precision
 */
record ProductFormat(int number, float scale) {

  /**
   * Chooses one.
   *
   * @param ofRows null for rows of bytes
   * @return null if the vectors do not go into any
   */
  static ProductFormat of(ExactRows rows, RowFacts ofRows, RowFacts ofQueries) {
    if (ofQueries.largestNorm() > RowFacts.MOST_NORM) {
      return null;
    }
    boolean cosine = rows.similarity() == VectorSimilarityFunction.COSINE;
    if (rows.encoding() == VectorEncoding.BYTE && cosine == false) {
      return new ProductFormat(ExactLimits.SIGNED, 1);
    }
    if (cosine) {
      // rows are divided by their norms
      return ofRows != null && ofRows.moderate() == false
          ? null
          : half(Math.max(Float.MIN_NORMAL, ofQueries.largestNorm()));
    }
    if (ofRows.unsignedBytes() && ofQueries.unsignedBytes()) {
      return new ProductFormat(ExactLimits.UNSIGNED, 1);
    }
    return ofRows.moderate() == false
        ? null
        : half(Math.max(ofRows.largestNorm(), ofQueries.largestNorm()));
  }

  /** The power of two that brings a norm to one half or more, and below one. */
  private static ProductFormat half(float norm) {
    int exponent = Math.min(40, Math.max(-40, -(Math.getExponent(norm) + 1)));
    return new ProductFormat(ExactLimits.HALF, Math.scalb(1f, exponent));
  }

  /** Bytes from one copy to the next. */
  int stride(int dimension) {
    int bytes = number == ExactLimits.HALF ? 2 * dimension : dimension;
    return (bytes + ExactLimits.DEPTH - 1) / ExactLimits.DEPTH * ExactLimits.DEPTH;
  }

  /** Bytes from one copy to the next, whatever the format. */
  static int mostStride(int dimension) {
    return new ProductFormat(ExactLimits.HALF, 1).stride(dimension);
  }

  String kernel() {
    return switch (number) {
      case ExactLimits.HALF -> "exact_products_half";
      case ExactLimits.UNSIGNED -> "exact_products_unsigned";
      default -> "exact_products_signed";
    };
  }
}
