package dev.vamana.ivf;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A query's rotated residual as whole numbers with a sign, split into planes: bit p of all
 * components lies in one run of words. The inner product with a code is then a sum of numbers of
 * common ones, which processors count in words (RaBitQ, section 3.3.2). For one thread.
 */
final class QueryBits {

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOWEST = 0x0101010101010101L;
  // moves the lowest bit of byte j to bit j of the highest byte
  private static final long GATHER = 0x0102040810204080L;

  private final int planes;
  private final int words;
  private final byte[] numbers;
  private final long[] bits;
  private float step;
  private int sum;

  /**
   * Makes room for a query.
   *
   * @param planes bits of a number with its sign, 2 to 8
   */
  QueryBits(int padded, int planes) {
    this.planes = planes;
    this.words = padded / Long.SIZE;
    this.numbers = new byte[padded];
    this.bits = new long[planes * words];
  }

  /** Takes over a residual. */
  void set(float[] residual) {
    float largest = 0;
    for (float component : residual) {
      largest = Math.max(largest, Math.abs(component));
    }
    int most = (1 << (planes - 1)) - 1;
    step = largest / most;
    float scale = largest == 0 ? 0 : most / largest;
    int total = 0;
    for (int d = 0; d < residual.length; d++) {
      // casts round to 0, so the offset makes this the nearest number
      int number = (int) (residual[d] * scale + 128.5f) - 128;
      numbers[d] = (byte) number;
      total += number;
    }
    sum = total;
    for (int word = 0; word < words; word++) {
      for (int plane = 0; plane < planes; plane++) {
        bits[word * planes + plane] = 0;
      }
      for (int part = 0; part < Long.BYTES; part++) {
        long eight = (long) LONG.get(numbers, word * Long.SIZE + part * Long.BYTES);
        for (int plane = 0; plane < planes; plane++) {
          long ones = (((eight >>> plane) & LOWEST) * GATHER) >>> 56;
          bits[word * planes + plane] |= ones << (part * Byte.SIZE);
        }
      }
    }
  }

  /** Returns what one means in the residual. */
  float step() {
    return step;
  }

  /** Returns the sum of all numbers. */
  int sum() {
    return sum;
  }

  /**
   * Returns the inner product of the numbers with bits.
   *
   * @param code array with one bit for each component
   * @param at index of the first word in {@code code}
   */
  int product(long[] code, int at, int words) {
    return planes == 4 ? product4(code, at, words) : productOf(code, at, words);
  }

  private int product4(long[] code, int at, int words) {
    int ones = 0;
    int twos = 0;
    int fours = 0;
    int eights = 0;
    for (int word = 0; word < words; word++) {
      long ofWord = code[at + word];
      int first = word * 4;
      ones += Long.bitCount(ofWord & bits[first]);
      twos += Long.bitCount(ofWord & bits[first + 1]);
      fours += Long.bitCount(ofWord & bits[first + 2]);
      eights += Long.bitCount(ofWord & bits[first + 3]);
    }
    return ones + 2 * twos + 4 * fours - 8 * eights;
  }

  private int productOf(long[] code, int at, int words) {
    int sum = 0;
    for (int word = 0; word < words; word++) {
      long ofWord = code[at + word];
      int first = word * planes;
      for (int plane = 0; plane < planes - 1; plane++) {
        sum += Long.bitCount(ofWord & bits[first + plane]) << plane;
      }
      sum -= Long.bitCount(ofWord & bits[first + planes - 1]) << (planes - 1);
    }
    return sum;
  }
}
