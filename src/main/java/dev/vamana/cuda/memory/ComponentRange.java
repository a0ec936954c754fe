package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.RangeResultLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The range of the components of a segment's float vectors, and the scale and offset by which bytes
 * represent them: a byte {@code b} stands for {@code b * scale() + offset()}.
 *
 * @param lowest smallest component
 * @param highest largest component
 * @param finite whether all components are finite
 * @param bytes whether all components are integers from 0 to 255
 */
record ComponentRange(float lowest, float highest, boolean finite, boolean bytes) {

  // the largest half-precision value; all values below 65,520 round to it
  private static final float MAX_HALF = 65_504;

  private static final int STEPS = 255;

  /** Reads the result of the kernel {@code convert_range}. */
  static ComponentRange read(MemorySegment result) {
    int flags = result.get(ValueLayout.JAVA_INT, RangeResultLayout.FLAGS);
    return new ComponentRange(
        RangeResultLayout.unsortable(~result.get(ValueLayout.JAVA_INT, RangeResultLayout.LOWEST)),
        RangeResultLayout.unsortable(result.get(ValueLayout.JAVA_INT, RangeResultLayout.HIGHEST)),
        (flags & RangeResultLayout.FLAG_NOT_FINITE) == 0,
        (flags & RangeResultLayout.FLAG_FRACTIONS) == 0);
  }

  /** Whether all components can be converted to half precision. */
  boolean fitsHalf() {
    return finite && lowest >= -MAX_HALF && highest <= MAX_HALF;
  }

  /** Whether all components can be converted to bytes. */
  boolean fitsByte() {
    return finite && Float.isFinite(scale());
  }

  /** Returns the factor of a byte; above 0. */
  float scale() {
    if (bytes) {
      return 1;
    }
    float step = (highest - lowest) / STEPS;
    return step > 0 ? step : 1;
  }

  /** Returns the value added after scaling. */
  float offset() {
    return bytes ? 0 : lowest;
  }
}
