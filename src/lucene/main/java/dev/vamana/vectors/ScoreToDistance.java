package dev.vamana.vectors;

/**
 * Converts Lucene's scores of pairs of stored vectors to the distances of graph construction:
 * squared Euclidean distances, of the vectors or of their unit vectors, or negated inner products.
 */
interface ScoreToDistance {

  /**
   * Replaces {@code count} scores of {@code ordinals} against {@code pivot} by distances, in place.
   */
  void convert(int pivot, int[] ordinals, float[] scores, int count);

  /** Makes a conversion that changes nothing, for values that are distances already. */
  static ScoreToDistance none() {
    return (pivot, ordinals, scores, count) -> {};
  }

  /** Converts EUCLIDEAN scores, {@code 1 / (1 + distance)}, to squared Euclidean distances. */
  static ScoreToDistance ofEuclidean() {
    return (pivot, ordinals, scores, count) -> {
      for (int i = 0; i < count; i++) {
        scores[i] = Math.max(0f, 1f / scores[i] - 1f);
      }
    };
  }

  /**
   * Converts COSINE or unit-length DOT_PRODUCT scores, {@code (1 + cosine) / 2}, to squared
   * Euclidean distances of unit vectors.
   */
  static ScoreToDistance ofCosine() {
    return (pivot, ordinals, scores, count) -> {
      for (int i = 0; i < count; i++) {
        scores[i] = Math.max(0f, 4f * (1f - scores[i]));
      }
    };
  }

  /** Converts MAXIMUM_INNER_PRODUCT scores to negated inner products. */
  static ScoreToDistance ofInnerProduct() {
    return (pivot, ordinals, scores, count) -> {
      for (int i = 0; i < count; i++) {
        scores[i] = -innerProduct(scores[i]);
      }
    };
  }

  /**
   * Converts MAXIMUM_INNER_PRODUCT scores to squared Euclidean distances of unit vectors.
   *
   * @param inverseNorms one divided by the norm of each vector, 0 for the zero vector
   */
  static ScoreToDistance ofDirections(float[] inverseNorms) {
    return (pivot, ordinals, scores, count) -> {
      float pivotScale = inverseNorms[pivot];
      for (int i = 0; i < count; i++) {
        float cosine = innerProduct(scores[i]) * pivotScale * inverseNorms[ordinals[i]];
        scores[i] = Math.max(0f, 2f - 2f * cosine);
      }
    };
  }

  /** The inner product from Lucene's positive MAXIMUM_INNER_PRODUCT score. */
  private static float innerProduct(float score) {
    return score >= 1f ? score - 1f : 1f - 1f / score;
  }
}
