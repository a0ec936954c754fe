package dev.vamana.elasticsearch.search;

import java.nio.charset.StandardCharsets;

/**
 * Writes floats as {@link Float#toString} does, with the fewest digits that read back as the same
 * float, straight into an array of bytes and in a fraction of the time.
 *
 * <p>A float is scaled to nine digits before the decimal point, in double precision, and the last
 * digits are rounded away as long as the result stays within half a unit in the last place of the
 * float. The scaled value is off by less than {@link #ERROR}; where that could decide, {@link
 * Float#toString} does.
 */
final class ShortestFloat {

  /** Most bytes of a float. */
  static final int MOST_BYTES = 16;

  /** More than the error of a value below 10^9 after two roundings to 53 bits. */
  private static final double ERROR = 1e-5;

  private static final int DIGITS = 9;
  private static final int MANTISSA = (1 << 23) - 1;
  private static final double LOG10_2 = 0.30102999566398120;

  /** As {@link Float#toString}, which has at least two digits. */
  private static final long MOST_ROUNDED = 10_000_000;

  private static final double PLAIN_FROM = 1e-3;
  private static final double PLAIN_BELOW = 1e7;

  private static final double[] POWERS = new double[DIGITS + 40];

  static {
    for (int i = 0; i < POWERS.length; i++) {
      POWERS[i] = Double.parseDouble("1e" + i);
    }
  }

  private ShortestFloat() {}

  /**
   * Writes a finite float in ASCII.
   *
   * @param out has room for {@link #MOST_BYTES} from {@code at}
   * @return the position after the last byte
   */
  static int write(float value, byte[] out, int at) {
    float positive = Math.abs(value);
    // powers of two lie closer to the float below than to the float above
    if (positive < Float.MIN_NORMAL || (Float.floatToRawIntBits(value) & MANTISSA) == 0) {
      return slowly(value, out, at);
    }
    int exponent = (int) Math.floor(Math.getExponent(positive) * LOG10_2);
    double scaled = scaled(positive, exponent);
    if (scaled >= POWERS[DIGITS]) {
      exponent++;
      scaled = scaled(positive, exponent);
    }
    double half = scaled(Math.ulp(positive) * 0.5, exponent);
    long digits = 0;
    for (long unit = 10; unit <= MOST_ROUNDED; unit *= 10) {
      double units = scaled / unit;
      long rounded = (long) (units + 0.5);
      double off = Math.abs(rounded * (double) unit - scaled);
      if (off > half + ERROR) {
        break;
      }
      if (off > half - ERROR || off > 0.5 * unit - ERROR) {
        return slowly(value, out, at);
      }
      digits = rounded * unit;
    }
    if (digits == 0) {
      digits = (long) (scaled + 0.5);
      if (Math.abs(digits - scaled) > 0.5 - ERROR) {
        return slowly(value, out, at);
      }
    }
    if (digits >= POWERS[DIGITS]) {
      return slowly(value, out, at);
    }
    int next = at;
    if (value < 0) {
      out[next++] = '-';
    }
    return positive >= PLAIN_FROM && positive < PLAIN_BELOW
        ? plain((int) digits, exponent, out, next)
        : scientific((int) digits, exponent, out, next);
  }

  private static double scaled(double value, int exponent) {
    int power = DIGITS - 1 - exponent;
    return power >= 0 ? value * POWERS[power] : value / POWERS[-power];
  }

  private static int slowly(float value, byte[] out, int at) {
    byte[] text = Float.toString(value).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(text, 0, out, at, text.length);
    return at + text.length;
  }

  /** Writes nine digits with a point after the first {@code exponent + 1} of them. */
  private static int plain(int digits, int exponent, byte[] out, int at) {
    int next = at;
    if (exponent >= 0) {
      digits(digits, out, next + 1);
      for (int i = 0; i <= exponent; i++) {
        out[next] = out[next + 1];
        next++;
      }
      out[next] = '.';
      return withoutZeros(out, next + 2, at + DIGITS + 1);
    }
    out[next++] = '0';
    out[next++] = '.';
    for (int i = -1; i > exponent; i--) {
      out[next++] = '0';
    }
    digits(digits, out, next);
    return withoutZeros(out, next + 1, next + DIGITS);
  }

  private static int scientific(int digits, int exponent, byte[] out, int at) {
    digits(digits, out, at + 1);
    out[at] = out[at + 1];
    out[at + 1] = '.';
    int next = withoutZeros(out, at + 3, at + 1 + DIGITS);
    out[next++] = 'E';
    int left = exponent;
    if (left < 0) {
      out[next++] = '-';
      left = -left;
    }
    if (left >= 10) {
      out[next++] = (byte) ('0' + left / 10);
    }
    out[next++] = (byte) ('0' + left % 10);
    return next;
  }

  private static void digits(int digits, byte[] out, int at) {
    int left = digits;
    for (int i = at + DIGITS - 1; i >= at; i--) {
      out[i] = (byte) ('0' + left % 10);
      left /= 10;
    }
  }

  /** Returns the end without trailing zeros, at least {@code from}. */
  private static int withoutZeros(byte[] out, int from, int to) {
    int end = to;
    while (end > from && out[end - 1] == '0') {
      end--;
    }
    return end;
  }
}
