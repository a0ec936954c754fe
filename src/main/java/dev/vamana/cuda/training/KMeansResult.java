package dev.vamana.cuda.training;

/**
 * Clusters that were found.
 *
 * @param centroids k rows of dims floats
 * @param error sum of the squared distances to the centroids of the iteration before the last
 * @param iterations that were made
 */
public record KMeansResult(float[] centroids, double error, int iterations) {}
