package dev.vamana.cuda.exact;

import dev.vamana.cuda.kernel.BuildLayouts.RangeResultLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactLimits;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * The number format of copies for matrix products on tensor cores.
 *
 * @param number number of the format in {@link ExactLimits}
 * @param scale factor of the components in half precision
 */
record ProductFormat(int number, float scale) {

  /**
   * Facts about a set of float vectors.
   *
   * @param largestNorm largest finite norm
   * @param flags {@link RangeResultLayout#FLAG_FRACTIONS}, {@link
   *     RangeResultLayout#FLAG_NOT_FINITE}
   */
  record Facts(float largestNorm, int flags) {
    // squares of norms beyond these lose too much precision
    private static final float MOST_NORM = 1e12f;
    private static final float LEAST_NORM = 1e-12f;

    /** Whether all components are integers from 0 to 255. */
    boolean unsignedBytes() {
      return (flags & RangeResultLayout.FLAG_FRACTIONS) == 0;
    }

    /** Whether scaled half precision can represent the vectors. */
    boolean moderate() {
      return (flags & RangeResultLayout.FLAG_NOT_FINITE) == 0
          && largestNorm >= LEAST_NORM
          && largestNorm <= MOST_NORM;
    }
  }

  /**
   * Chooses the format of a search.
   *
   * @param ofRows facts about the rows; null for rows of bytes
   * @return null if no format can represent the vectors
   */
  static ProductFormat of(ExactRows rows, Facts ofRows, Facts ofQueries) {
    if (ofQueries.largestNorm() > Facts.MOST_NORM) {
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

  /**
   * Returns half precision with the power of two that scales a norm to at least one half and below
   * one.
   */
  private static ProductFormat half(float norm) {
    int exponent = Math.min(40, Math.max(-40, -(Math.getExponent(norm) + 1)));
    return new ProductFormat(ExactLimits.HALF, Math.scalb(1f, exponent));
  }

  /** Returns the bytes between copies. */
  int stride(int dimension) {
    int bytes = number == ExactLimits.HALF ? 2 * dimension : dimension;
    return (bytes + ExactLimits.DEPTH - 1) / ExactLimits.DEPTH * ExactLimits.DEPTH;
  }

  /** Returns the most bytes between copies, over all formats. */
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
