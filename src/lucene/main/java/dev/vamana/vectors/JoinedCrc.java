package dev.vamana.vectors;

/**
 * Joins CRC-32 checksums of adjacent parts. A checksum is the remainder of a polynomial, so the
 * checksum of two parts is the first's times x to the power of the second's bits, plus the
 * second's.
 */
final class JoinedCrc {

  // coefficients from x^31 in bit 0 to x^0 in bit 31
  private static final int POLYNOMIAL = 0xEDB88320;
  private static final int ONE = 1 << 31;
  private static final int ONE_BYTE = 1 << 23;

  private JoinedCrc() {}

  /**
   * Returns the checksum of two parts together.
   *
   * @param first checksum of the first part
   * @param second checksum of the second part
   * @param bytes length of the second part
   */
  static long of(long first, long second, long bytes) {
    return (times(power(bytes), (int) first) ^ (int) second) & 0xFFFFFFFFL;
  }

  /** Returns x to the power of the bits of this many bytes. */
  private static int power(long bytes) {
    int result = ONE;
    int base = ONE_BYTE;
    for (long left = bytes; left > 0; left >>= 1) {
      if ((left & 1) != 0) {
        result = times(base, result);
      }
      base = times(base, base);
    }
    return result;
  }

  private static int times(int a, int b) {
    int product = 0;
    int shifted = b;
    for (int bit = ONE; bit != 0; bit >>>= 1) {
      if ((a & bit) != 0) {
        product ^= shifted;
      }
      shifted = (shifted & 1) != 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
    }
    return product;
  }
}
