package dev.vamana.cuda.hostfetch;

/**
 * The result of an item.
 *
 * @param ordinals hits, best first; equal scores by lower ordinal
 * @param scores the exact score of each ordinal
 * @param visited number of nodes whose distance was computed
 * @param iterations steps of the walk
 * @param complete whether the walk ended by itself, not by its limit or a cancellation
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
