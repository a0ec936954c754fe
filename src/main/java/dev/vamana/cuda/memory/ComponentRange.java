package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.BuildLayouts.RangeResultLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The range of the components of a segment's float vectors.
 *
 * @param lowest smallest component
 * @param highest largest component
 * @param finite whether all components are finite
 */
record ComponentRange(float lowest, float highest, boolean finite) {

  // the largest half-precision value; all values below 65,520 round to it
  private static final float MAX_HALF = 65_504;

  /** Reads the result of the kernel {@code convert_range}. */
  static ComponentRange read(MemorySegment result) {
    return new ComponentRange(
        RangeResultLayout.unsortable(~result.get(ValueLayout.JAVA_INT, RangeResultLayout.LOWEST)),
        RangeResultLayout.unsortable(result.get(ValueLayout.JAVA_INT, RangeResultLayout.HIGHEST)),
        finite(result));
  }

  /** Whether a kernel has found finite components only. */
  static boolean finite(MemorySegment result) {
    int flags = result.get(ValueLayout.JAVA_INT, RangeResultLayout.FLAGS);
    return (flags & RangeResultLayout.FLAG_NOT_FINITE) == 0;
  }

  /** Whether all components can be converted to half precision. */
  boolean fitsHalf() {
    return finite && lowest >= -MAX_HALF && highest <= MAX_HALF;
  }
}
