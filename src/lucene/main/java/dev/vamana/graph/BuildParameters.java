package dev.vamana.graph;

/**
 * Parameters of building a Vamana graph (DiskANN's R, L and alpha).
 *
 * @param maxDegree most out-neighbours of a node (R), {@value #MIN_DEGREE} to {@value #MAX_DEGREE}
 * @param beamWidth nodes kept by the greedy searches for one node's neighbours (L), {@code
 *     maxDegree} to {@value #MAX_BEAM_WIDTH}; two passes share it
 * @param alpha a candidate is dropped if a kept neighbour is nearer to it than the node by this
 *     factor, {@value #MIN_ALPHA} to {@value #MAX_ALPHA}, applied to squared distances
 * @param seed determines the order of insertion
 * @param passes how often every node is inserted, 1 or 2
 */
public record BuildParameters(int maxDegree, int beamWidth, float alpha, long seed, int passes) {

  public static final int MIN_DEGREE = 4;
  public static final int MAX_DEGREE = 128;
  public static final int MAX_BEAM_WIDTH = 4096;
  public static final float MIN_ALPHA = 1.0f;
  public static final float MAX_ALPHA = 2.0f;

  /**
   * Least number of nodes kept by searches of the first of two passes, if that many are kept by the
   * second: with fewer, graphs of a small max degree have too few neighbours.
   */
  public static final int LEAST_FIRST_BEAM = 24;

  public BuildParameters {
    check(maxDegree, beamWidth, alpha);
    if (passes < 1 || passes > 2) {
      throw new IllegalArgumentException("passes must be 1 or 2, got " + passes);
    }
  }

  /** Makes parameters of two passes, for the final graph of a segment. */
  public BuildParameters(int maxDegree, int beamWidth, float alpha, long seed) {
    this(maxDegree, beamWidth, alpha, seed, 2);
  }

  /**
   * Returns the nodes kept by the search of one pass: half the beam width, since there are two
   * passes, but at least the max degree. On the CPU the first pass of two keeps fewer, the second
   * more.
   */
  public int passBeamWidth() {
    return Math.max(maxDegree, beamWidth / 2);
  }

  /**
   * Checks the ranges of parameters.
   *
   * @throws IllegalArgumentException if a value is out of range; the message names the value and
   *     the range
   */
  public static void check(int maxDegree, int beamWidth, float alpha) {
    if (maxDegree < MIN_DEGREE || maxDegree > MAX_DEGREE) {
      throw new IllegalArgumentException(
          "maxDegree must be between " + MIN_DEGREE + " and " + MAX_DEGREE + ", got " + maxDegree);
    }
    if (beamWidth < maxDegree || beamWidth > MAX_BEAM_WIDTH) {
      throw new IllegalArgumentException(
          "beamWidth must be between maxDegree ("
              + maxDegree
              + ") and "
              + MAX_BEAM_WIDTH
              + ", got "
              + beamWidth);
    }
    if (!(alpha >= MIN_ALPHA && alpha <= MAX_ALPHA)) {
      throw new IllegalArgumentException(
          "alpha must be between " + MIN_ALPHA + " and " + MAX_ALPHA + ", got " + alpha);
    }
  }
}
