package dev.vamana.search;

/**
 * The hits of one {@link WorkItem}.
 *
 * @param ordinals best first, equal scores by lower ordinal
 * @param scores exact scores of the segment's similarity, one an ordinal
 * @param visited how many nodes got a distance
 * @param complete false if the visit limit or a cancellation ended the search
 */
public record WorkResult(int[] ordinals, float[] scores, long visited, boolean complete) {}
