package dev.vamana.cuda.lane;

/**
 * The device's result of one item, of whatever lane.
 *
 * @param ordinals hits, best first; candidates for re-ranking if the result is approximate
 * @param scores the score of each ordinal
 * @param visited number of nodes whose distance was computed
 * @param iterations steps of the walk; 0 for an exact search
 * @param complete whether the search ended by itself, not by a limit or a cancellation
 * @param approximate whether the caller has to re-rank with exact scores
 * @param fault why the result cannot be used, or null
 */
public record DeviceResult(
    int[] ordinals,
    float[] scores,
    long visited,
    int iterations,
    boolean complete,
    boolean approximate,
    Fault fault) {

  /** Why a result cannot be used. */
  public enum Fault {
    /** A value read from the segment's files is out of range. */
    CORRUPT,
    /** The walk expanded more nodes than it had room to record. */
    OVERFLOW
  }

  private static final int[] NO_ORDINALS = new int[0];
  private static final float[] NO_SCORES = new float[0];

  /** Returns a result without hits because of a corrupt file. */
  public static DeviceResult corrupt(long visited, int iterations) {
    return new DeviceResult(
        NO_ORDINALS, NO_SCORES, visited, iterations, false, false, Fault.CORRUPT);
  }
}
