package dev.vamana.ivf;

import org.apache.lucene.util.VectorUtil;

/** Finds the centroid nearest to a vector, for one thread. */
final class NearestCentroid {

  private final float[][] centroids;
  private float distance;

  NearestCentroid(float[][] centroids) {
    this.centroids = centroids;
  }

  /** Returns the number of the nearest centroid; the lowest of equally near ones. */
  int find(float[] vector) {
    int nearest = 0;
    float least = Float.POSITIVE_INFINITY;
    for (int list = 0; list < centroids.length; list++) {
      float squared = VectorUtil.squareDistance(vector, centroids[list]);
      if (squared < least) {
        least = squared;
        nearest = list;
      }
    }
    distance = least;
    return nearest;
  }

  /** Returns the squared distance to the centroid found last. */
  float distance() {
    return distance;
  }
}
