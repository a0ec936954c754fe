package dev.vamana.cuda.training;

/**
 * The result of clustering.
 *
 * @param centroids k rows of dims floats
 * @param error sum of squared distances to the centroids before the last update
 * @param iterations number of iterations
 */
public record KMeansResult(float[] centroids, double error, int iterations) {}
