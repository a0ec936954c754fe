package dev.vamana.cuda.exact;

import dev.vamana.cuda.kernel.RangeResultLayout;

/**
 * What is known about all of some vectors.
 *
 * @param largestNorm of those with a finite norm
 * @param flags {@link RangeResultLayout#FLAG_FRACTIONS}, {@link RangeResultLayout#FLAG_NOT_FINITE}
 */
record RowFacts(float largestNorm, int flags) {

  /** Norms beyond these bounds lose too much when they are squared. */
  static final float MOST_NORM = 1e12f;

  private static final float LEAST_NORM = 1e-12f;

  /** Whether all components are integers from 0 to 255. */
  boolean unsignedBytes() {
    return (flags & RangeResultLayout.FLAG_FRACTIONS) == 0;
  }

  /** Whether half precision, scaled, can tell them apart. */
  boolean moderate() {
    return (flags & RangeResultLayout.FLAG_NOT_FINITE) == 0
        && largestNorm >= LEAST_NORM
        && largestNorm <= MOST_NORM;
  }
}
