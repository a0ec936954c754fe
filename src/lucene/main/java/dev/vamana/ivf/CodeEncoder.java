package dev.vamana.ivf;

import java.nio.ByteBuffer;

/**
 * Makes RaBitQ codes of vectors, for one thread.
 *
 * <p>A code is a vector of numbers {@code v[d] = w[d] + 1/2}, where w has {@code bits} bits with a
 * sign, whose direction is near to the direction of the rotated residual {@code o = P (x - c)} of a
 * vector x of the list with centroid c. For another vector q with rotated residual {@code q' = P (q
 * - c)}
 *
 * <pre>
 *   &lt;o, q'&gt;  is estimated by  |o|^2 / &lt;v, o&gt; * &lt;v, q'&gt;
 * </pre>
 *
 * The estimate has no bias over random rotations, whatever rule chooses v: the part of q' that is
 * orthogonal to o has a uniformly random direction. Its error is {@code |o| |q'| sqrt((1 - c^2) /
 * c^2) / sqrt(D - 1)} times a number with mean 0 and variance at most 1 that is above t with a
 * probability below {@code exp(-t^2 (D - 2) / (2 D))}, where {@code c = <v, o> / (|v| |o|)} and D
 * is the padded dimension (RaBitQ, theorem 3.2).
 */
final class CodeEncoder implements EntryEncoder {

  /** Steps of uniform quantization with least error for a normal distribution, by bits. */
  private static final float[] STEPS = {
    0, 1.596f, 0.9957f, 0.586f, 0.3352f, 0.1881f, 0.1041f, 0.0568f
  };

  private static final float[] TRIES = {0.8f, 0.9f, 1f, 1.1f, 1.2f};

  private final ListShape shape;
  private final boolean products;
  private final int bits;
  private final int[] numbers;
  private final int[] best;

  /**
   * Makes an encoder.
   *
   * @param products whether distances are negated inner products, rather than squared Euclidean
   */
  CodeEncoder(ListShape shape, boolean products) {
    this.shape = shape;
    this.products = products;
    this.bits = shape.kind().bits();
    this.numbers = new int[shape.padded()];
    this.best = new int[shape.padded()];
  }

  @Override
  public void encode(
      int ordinal,
      float[] residual,
      float[] centroid,
      ByteBuffer head,
      int headAt,
      ByteBuffer tail,
      int tailAt) {
    // two sums of each, so that additions need not wait for each other; components are a multiple
    // of 64
    double square = 0;
    double odd = 0;
    double absolute = 0;
    double oddAbsolute = 0;
    for (int d = 0; d < residual.length; d += 2) {
      double first = residual[d];
      double second = residual[d + 1];
      square += first * first;
      odd += second * second;
      absolute += Math.abs(first);
      oddAbsolute += Math.abs(second);
    }
    square += odd;
    absolute += oddAbsolute;
    double constant = products ? -product(residual, centroid) : square;
    if (headAt >= 0) {
      head.putInt(headAt, ordinal);
      double length = Math.sqrt(residual.length) / 2;
      putFactors(head, headAt + Integer.BYTES, constant, square, absolute / 2, length);
      for (int word = 0; word < shape.words(); word++) {
        long signs = 0;
        for (int d = 0; d < Long.SIZE; d++) {
          // without a branch, which would be mispredicted half of the time; adding 0 makes -0 to 0
          int negative = Float.floatToRawIntBits(residual[word * Long.SIZE + d] + 0f) >>> 31;
          signs |= (long) (negative ^ 1) << d;
        }
        head.putLong(headAt + 16 + word * Long.BYTES, signs);
      }
    }
    if (bits > 1 && tailAt >= 0) {
      quantize(residual, Math.sqrt(square / residual.length));
      double along = 0;
      double length = 0;
      for (int d = 0; d < residual.length; d++) {
        double v = best[d] + 0.5;
        along += v * residual[d];
        length += v * v;
      }
      tail.putInt(tailAt, 0);
      putFactors(tail, tailAt + Integer.BYTES, constant, square, along, Math.sqrt(length));
      for (int plane = 0; plane < bits - 1; plane++) {
        for (int word = 0; word < shape.words(); word++) {
          long ones = 0;
          for (int d = 0; d < Long.SIZE; d++) {
            ones |= (long) ((best[word * Long.SIZE + d] >> plane) & 1) << d;
          }
          tail.putLong(tailAt + 16 + (plane * shape.words() + word) * Long.BYTES, ones);
        }
      }
    }
  }

  private static double product(float[] residual, float[] centroid) {
    double even = 0;
    double odd = 0;
    for (int d = 0; d < residual.length; d += 2) {
      even += (double) residual[d] * centroid[d];
      odd += (double) residual[d + 1] * centroid[d + 1];
    }
    return even + odd;
  }

  /** Finds the numbers whose direction is nearest to the residual's, over a few step sizes. */
  private void quantize(float[] residual, double deviation) {
    int least = -(1 << (bits - 1));
    int most = -least - 1;
    double bestCosine = Double.NEGATIVE_INFINITY;
    for (float factor : TRIES) {
      float scale = deviation == 0 ? 0 : (float) (1 / (factor * STEPS[bits] * deviation));
      double along = 0;
      double length = 0;
      for (int d = 0; d < residual.length; d++) {
        int number = Math.max(least, Math.min(most, (int) Math.floor(residual[d] * scale)));
        // the head's bit is the sign of the residual, of which this number repeats the rest
        numbers[d] = residual[d] >= 0 ? Math.max(0, number) : Math.min(-1, number);
        double v = numbers[d] + 0.5;
        along += v * residual[d];
        length += v * v;
      }
      double cosine = along / Math.sqrt(length);
      if (cosine > bestCosine) {
        bestCosine = cosine;
        System.arraycopy(numbers, 0, best, 0, numbers.length);
      }
    }
  }

  private void putFactors(
      ByteBuffer target, int at, double constant, double square, double along, double length) {
    double factor = along > 0 ? square / along : 0;
    double cosine = along > 0 ? Math.min(1, along / (length * Math.sqrt(square))) : 1;
    double error =
        along > 0
            ? Math.sqrt(square * (1 - cosine * cosine) / (cosine * cosine) / (shape.padded() - 1))
            : 0;
    double times = products ? 1 : 2;
    target.putFloat(at, (float) constant);
    target.putFloat(at + Float.BYTES, (float) (-times * factor));
    target.putFloat(at + 2 * Float.BYTES, (float) (times * error));
  }
}
