package dev.vamana.ivf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Estimates of distances have no bias, and their errors keep to the bound.
 *
 * <p>Each check looks at one pair of vectors under many rotations, whose errors are independent. An
 * error divided by the bound of one standard deviation has mean 0 and, as a component of a random
 * direction, a distribution whose tails are lighter than the normal ones. So the mean of n errors
 * is above t / sqrt(n) with a probability below 2 exp(-t^2 / 2.1), which is 1e-13 for t = 8: no
 * seed gets there.
 */
public class CodeEncoderTests extends IvfTestCase {

  private static final int ROTATIONS = 1_000;
  private static final double DEVIATIONS = 8;

  public void testEuclideanDistances() {
    for (CodeKind kind : CodeKind.rabitq()) {
      check(kind, false);
    }
  }

  public void testInnerProducts() {
    for (CodeKind kind : CodeKind.rabitq()) {
      check(kind, true);
    }
  }

  /** More bits have smaller bounds: by 4 for each further pair of bits, as the steps are halved. */
  public void testMoreBitsHaveSmallerErrors() {
    int dimension = 128;
    float[] residual = gaussian(dimension);
    double last = Double.POSITIVE_INFINITY;
    for (CodeKind kind : CodeKind.rabitq()) {
      ListShape shape = new ListShape(1, dimension, 1, kind);
      Entry entry = new Entry(shape, residual, new float[dimension], false);
      assertTrue(kind + ": " + entry.error() + " after " + last, entry.error() < last / 1.7);
      last = entry.error();
    }
  }

  private void check(CodeKind kind, boolean products) {
    int dimension = 30 + random().nextInt(200);
    float[] vector = gaussian(dimension);
    float[] query = gaussian(dimension);
    float[] centroid = gaussian(dimension);
    // a query that is near to the vector, as those are that matter
    for (int d = 0; d < dimension; d++) {
      centroid[d] *= 0.5f;
      query[d] = vector[d] + 0.5f * query[d];
    }
    ListShape shape = new ListShape(1, dimension, 1, kind);
    int padded = shape.padded();
    double exact = products ? -product(vector, query) : square(vector, query);
    double sum = 0;
    int outside = 0;
    for (int i = 0; i < ROTATIONS; i++) {
      Rotation rotation = new Rotation(dimension, random().nextLong());
      float[] rotatedCentroid = rotate(rotation, centroid);
      float[] residual = minus(rotate(rotation, vector), rotatedCentroid);
      float[] rotatedQuery = rotate(rotation, query);
      float[] ofQuery = minus(rotatedQuery, rotatedCentroid);
      Entry entry = new Entry(shape, residual, rotatedCentroid, products);
      double base =
          products
              ? -product(rotatedCentroid, rotatedQuery)
              : square(rotatedQuery, rotatedCentroid);
      double length = Math.sqrt(product(ofQuery, ofQuery));
      double error = (entry.estimate(base, ofQuery) - exact) / (entry.error() * length);
      sum += error;
      outside += Math.abs(error) > ListQuery.MARGIN ? 1 : 0;
    }
    assertEquals(kind + " of " + padded, 0, sum / ROTATIONS, DEVIATIONS / Math.sqrt(ROTATIONS));
    // 6 in 100 errors of a normal distribution are outside of 1.9 deviations
    double expected = 0.06 * ROTATIONS;
    assertTrue(kind + ": " + outside, outside <= expected + DEVIATIONS * Math.sqrt(expected));
  }

  /** An entry as it is in the file, decoded one component at a time. */
  private static final class Entry {
    private final ListShape shape;
    private final float constant;
    private final float factor;
    private final float error;
    private final double[] code;

    Entry(ListShape shape, float[] residual, float[] centroid, boolean products) {
      this.shape = shape;
      ByteBuffer bytes =
          ByteBuffer.allocate(shape.headBytes() + shape.tailBytes()).order(ByteOrder.LITTLE_ENDIAN);
      int ordinal = random().nextInt(1000);
      new CodeEncoder(shape, products)
          .encode(ordinal, residual, centroid, bytes, 0, bytes, shape.headBytes());
      assertEquals(ordinal, bytes.getInt(0));
      int bits = shape.kind().bits();
      int factors = bits == 1 ? 0 : shape.headBytes();
      constant = bytes.getFloat(factors + 4);
      factor = bytes.getFloat(factors + 8);
      error = bytes.getFloat(factors + 12);
      code = new double[shape.padded()];
      for (int d = 0; d < code.length; d++) {
        int number = bit(bytes, 16, d) == 1 ? 0 : -(1 << bits - 1);
        for (int plane = 0; plane < bits - 1; plane++) {
          int at = shape.headBytes() + 16 + plane * shape.words() * Long.BYTES;
          number += bit(bytes, at, d) << plane;
        }
        code[d] = number + 0.5;
      }
    }

    private static int bit(ByteBuffer bytes, int at, int d) {
      return (int) (bytes.getLong(at + d / 64 * 8) >>> d & 1);
    }

    double error() {
      return error;
    }

    double estimate(double base, float[] query) {
      double sum = 0;
      for (int d = 0; d < shape.padded(); d++) {
        sum += code[d] * query[d];
      }
      return base + constant + factor * sum;
    }
  }

  private static float[] minus(float[] one, float[] other) {
    float[] difference = new float[one.length];
    for (int d = 0; d < one.length; d++) {
      difference[d] = one[d] - other[d];
    }
    return difference;
  }

  private static double square(float[] one, float[] other) {
    float[] difference = minus(one, other);
    return product(difference, difference);
  }
}
