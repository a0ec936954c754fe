package dev.vamana.cuda.hostfetch;

/**
 * What was found for an item.
 *
 * @param ordinals best first, equal scores by lower ordinal
 * @param scores exact scores, one an ordinal
 * @param visited nodes that got a distance
 * @param iterations steps of the walk
 * @param complete whether the walk ended by itself
 * @param corrupt whether an ordinal read from the segment's files was out of range; there are no
 *     hits then
 */
public record FetchResult(
    int[] ordinals,
    float[] scores,
    long visited,
    int iterations,
    boolean complete,
    boolean corrupt) {

  private static final int[] NO_ORDINALS = new int[0];
  private static final float[] NO_SCORES = new float[0];

  static FetchResult corrupt(long visited, int iterations) {
    return new FetchResult(NO_ORDINALS, NO_SCORES, visited, iterations, false, true);
  }
}
