package dev.vamana.cuda.exact;

import dev.vamana.cuda.kernel.BuildLayouts.RangeResultLayout;

/**
 * Facts about a set of float vectors that decide how they can be searched.
 *
 * @param largestNorm largest finite norm
 * @param flags {@link RangeResultLayout#FLAG_FRACTIONS}, {@link RangeResultLayout#FLAG_NOT_FINITE}
 */
public record RowFacts(float largestNorm, int flags) {

  /** Bounds of norms; squares of norms beyond them lose too much precision. */
  static final float MOST_NORM = 1e12f;

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
