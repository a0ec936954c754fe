package dev.vamana.tools.plot;

import java.math.BigDecimal;
import java.math.MathContext;

/**
 * One axis of a plot.
 *
 * @param label the quantity and its unit
 * @param scale how values map to positions
 * @param low smallest value shown, {@link Double#NaN} to fit the data
 * @param high largest value shown, {@link Double#NaN} to fit the data
 */
public record Axis(String label, Scale scale, double low, double high) {

  public Axis {
    if (low >= high) {
      throw new IllegalArgumentException(
          "axis '" + label + "': low is " + low + ", allowed is below high, which is " + high);
    }
  }

  /** Makes an axis that fits the data. */
  public static Axis of(String label, Scale scale) {
    return new Axis(label, scale, Double.NaN, Double.NaN);
  }

  /** Returns this axis with {@link Double#NaN} ends replaced by ends that fit the data. */
  Axis fit(double dataLow, double dataHigh) {
    double from = Double.isNaN(low) ? scale.below(dataLow) : low;
    double to = Double.isNaN(high) ? scale.above(dataHigh) : high;
    if (from >= to) {
      // only one value: make room on both sides, within the range of the scale
      double room = scale == Scale.NEAR_ONE ? (1 - from) / 2 + 1e-3 : Math.abs(from) / 2 + 1e-3;
      to = from + room;
      from = scale == Scale.LINEAR ? from - room : from - Math.abs(from) / 2;
    }
    return new Axis(label, scale, from, to);
  }

  /** Position of a value between the ends, 0 to 1 if it is inside. */
  double fraction(double value) {
    double start = scale.transform(low);
    return (scale.transform(value) - start) / (scale.transform(high) - start);
  }

  boolean contains(double value) {
    return value >= low && value <= high;
  }

  static String format(double value) {
    BigDecimal rounded = new BigDecimal(value, new MathContext(6));
    if (Math.abs(value) >= 1e7) {
      return rounded.stripTrailingZeros().toString();
    }
    String plain = rounded.stripTrailingZeros().toPlainString();
    return rounded.signum() == 0 ? "0" : plain;
  }
}
