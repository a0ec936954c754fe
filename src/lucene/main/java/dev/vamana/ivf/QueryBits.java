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
  private final int[] rounded;
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
    this.rounded = new int[padded];
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
    // one step a loop, because the compiler makes vector instructions only of loops this simple
    for (int d = 0; d < rounded.length; d++) {
      // casts round to 0, so the offset makes this the nearest number
      rounded[d] = (int) (residual[d] * scale + 128.5f) - 128;
    }
    for (int d = 0; d < numbers.length; d++) {
      numbers[d] = (byte) rounded[d];
    }
    sum = 0;
    for (int word = 0; word < words; word++) {
      for (int plane = 0; plane < planes; plane++) {
        long ofPlane = plane(word, plane);
        bits[word * planes + plane] = ofPlane;
        int ones = Long.bitCount(ofPlane) << plane;
        sum += plane == planes - 1 ? -ones : ones;
      }
    }
  }

  /** Gathers a bit of 64 numbers. */
  private long plane(int word, int plane) {
    long gathered = 0;
    for (int part = 0; part < Long.BYTES; part++) {
      long eight = (long) LONG.get(numbers, word * Long.SIZE + part * Long.BYTES);
      long ones = (((eight >>> plane) & LOWEST) * GATHER) >>> 56;
      gathered |= ones << (part * Byte.SIZE);
    }
    return gathered;
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

  /**
   * Adds the inner products of 64 of the numbers with the bits of many vectors. With four planes
   * only.
   *
   * @param column the word of the vectors' codes with these bits
   * @param count number of vectors
   * @param word number of the word
   * @param products receives the sums
   */
  void addProducts(long[] column, int count, int word, int[] products) {
    assert planes == 4;
    int first = word * 4;
    // a loop that the compiler makes vector instructions of, where the processor counts bits
    long one = bits[first];
    long two = bits[first + 1];
    long four = bits[first + 2];
    long minusEight = bits[first + 3];
    for (int i = 0; i < count; i++) {
      long code = column[i];
      products[i] +=
          Long.bitCount(code & one)
              + 2 * Long.bitCount(code & two)
              + 4 * Long.bitCount(code & four)
              - 8 * Long.bitCount(code & minusEight);
    }
  }
}
