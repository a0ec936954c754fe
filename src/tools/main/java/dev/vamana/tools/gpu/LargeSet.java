package dev.vamana.tools.gpu;

/**
 * Generated vectors of bytes, as many as wanted and the same on every machine: clusters of unequal
 * size near a space of {@value #LATENT} dimensions.
 *
 * <p>A vector takes a centre, lower numbers more often (number = floor({@value #CLUSTERS} * u^1.5)
 * for a uniform u), adds a normal point of {@value #LATENT} components scaled by 0.7, maps the sum
 * to {@value #DIMENSION} components by a fixed normal matrix divided by the square root of {@value
 * #LATENT}, adds uniform noise of at most 0.09 to each component, and is rounded to bytes in steps
 * of a 28th. Normal numbers are sums of four uniform ones. All arithmetic is the same on every
 * machine. Vector i depends on i alone, so a smaller set is the beginning of a larger one.
 *
 * <p>For one thread.
 */
final class LargeSet {

  static final String NAME = "generated-96-bytes";
  static final int DIMENSION = 96;
  private static final int LATENT = 16;
  private static final int CLUSTERS = 20_000;

  /** The first number of queries, which no set reaches. */
  private static final long FIRST_QUERY = 1L << 32;

  private static final long SEED = 0x5EED_20_26_11_24L;
  private static final long GAMMA = 0x9E3779B97F4A7C15L;
  private static final float SPREAD = 0.7f;
  private static final float NOISE = 0.09f / 128;
  private static final float STEPS = 28;
  // so that rounding is by cutting off
  private static final int SHIFT = 1 << 12;

  private final float[][] centres = new float[CLUSTERS][LATENT];
  private final float[][] map = new float[LATENT][DIMENSION];
  private final float[] sums = new float[DIMENSION];
  private long state;

  LargeSet() {
    state = SEED;
    for (float[] centre : centres) {
      for (int l = 0; l < LATENT; l++) {
        centre[l] = normal();
      }
    }
    float scale = (float) (STEPS / Math.sqrt(LATENT));
    for (float[] row : map) {
      for (int d = 0; d < DIMENSION; d++) {
        row[d] = scale * normal();
      }
    }
  }

  /** The next number of Vigna's SplitMix64. */
  private long next() {
    state += GAMMA;
    return mixed(state);
  }

  private static long mixed(long value) {
    long z = (value ^ (value >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** A number of mean 0 and variance 1: the sum of four uniform ones, scaled. */
  private float normal() {
    long bits = next();
    long sum = (bits & 0xFFFF) + (bits >>> 16 & 0xFFFF) + (bits >>> 32 & 0xFFFF) + (bits >>> 48);
    return (sum - 2 * 0xFFFF) * (1.7320508f / 0x10000);
  }

  /**
   * Writes a vector.
   *
   * @param number of the vector, 0 or more
   * @param at index of its first component in {@code target}
   */
  void vector(long number, byte[] target, int at) {
    state = mixed(SEED ^ (number * GAMMA));
    double u = (next() >>> 11) * 0x1p-53;
    float[] centre = centres[(int) (CLUSTERS * u * Math.sqrt(u))];
    for (int d = 0; d < DIMENSION; d += Long.BYTES) {
      long bits = next();
      for (int i = 0; i < Long.BYTES; i++) {
        sums[d + i] = (byte) (bits >>> 8 * i) * (NOISE * STEPS);
      }
    }
    for (int l = 0; l < LATENT; l++) {
      add(centre[l] + SPREAD * normal(), map[l], sums);
    }
    for (int d = 0; d < DIMENSION; d++) {
      int rounded = (int) (sums[d] + (SHIFT + 0.5f)) - SHIFT;
      target[at + d] = (byte) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, rounded));
    }
  }

  // apart, so that it is compiled to vector instructions
  private static void add(float factor, float[] row, float[] sums) {
    for (int d = 0; d < DIMENSION; d++) {
      sums[d] += factor * row[d];
    }
  }

  /** Returns the first queries, which are drawn as the vectors are. */
  byte[][] queries(int count) {
    byte[][] queries = new byte[count][DIMENSION];
    for (int q = 0; q < count; q++) {
      vector(FIRST_QUERY + q, queries[q], 0);
    }
    return queries;
  }
}
