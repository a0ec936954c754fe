package dev.vamana.search;

/**
 * The hits of one {@link WorkItem}.
 *
 * @param ordinals hits, best first; equal scores by lower ordinal
 * @param scores the exact score of each ordinal in the segment's similarity
 * @param visited number of nodes whose distance was computed
 * @param complete false if the visit limit or a cancellation ended the search
 */
public record WorkResult(int[] ordinals, float[] scores, long visited, boolean complete) {}
