package dev.vamana.cuda.kernel;

import java.util.Random;

/** Vectors of bytes whose sums are as large as any. */
public final class ByteVectors {

  private ByteVectors() {}

  /** Returns vectors of any values, of -128 alone, of 127 alone, and of both; none is zero. */
  public static byte[][] wide(Random random, int size, int dimension) {
    byte[][] vectors = new byte[size][dimension];
    for (byte[] vector : vectors) {
      random.nextBytes(vector);
      int kind = random.nextInt(8);
      for (int d = 0; d < dimension && kind < 3; d++) {
        vector[d] = kind == 0 ? -128 : kind == 1 ? 127 : vector[d] < 0 ? (byte) -128 : 127;
      }
      vector[0] = vector[0] == 0 ? 1 : vector[0];
    }
    return vectors;
  }
}
