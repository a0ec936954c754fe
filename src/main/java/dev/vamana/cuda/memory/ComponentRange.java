package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.RangeResultLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Which values the components of a segment's float vectors take, and how bytes stand for them.
 *
 * @param lowest smallest component
 * @param highest largest component
 * @param finite whether all components are finite
 * @param bytes whether all components are integers from 0 to 255
 */
record ComponentRange(float lowest, float highest, boolean finite, boolean bytes) {

  // the largest half is 65,504, and all below 65,520 round to it
  private static final float MAX_HALF = 65_504;

  private static final int STEPS = 255;

  /** Reads what {@code convert_range} has found. */
  static ComponentRange read(MemorySegment result) {
    int flags = result.get(ValueLayout.JAVA_INT, RangeResultLayout.FLAGS);
    return new ComponentRange(
        RangeResultLayout.unsortable(~result.get(ValueLayout.JAVA_INT, RangeResultLayout.LOWEST)),
        RangeResultLayout.unsortable(result.get(ValueLayout.JAVA_INT, RangeResultLayout.HIGHEST)),
        (flags & RangeResultLayout.FLAG_NOT_FINITE) == 0,
        (flags & RangeResultLayout.FLAG_FRACTIONS) == 0);
  }

  /** Whether halves can stand for all components. */
  boolean fitsHalf() {
    return finite && lowest >= -MAX_HALF && highest <= MAX_HALF;
  }

  /** Whether bytes can stand for all components. */
  boolean fitsByte() {
    return finite && Float.isFinite(scale());
  }

  /** What a byte is multiplied by; above 0. */
  float scale() {
    if (bytes) {
      return 1;
    }
    float step = (highest - lowest) / STEPS;
    return step > 0 ? step : 1;
  }

  /** What is then added. */
  float offset() {
    return bytes ? 0 : lowest;
  }
}
