package dev.vamana.vectors;

/**
 * Turns the scores that Lucene gives pairs of stored vectors into the distances that graph
 * construction works with: squared Euclidean distances, of the vectors or of their directions, or
 * negated inner products.
 */
interface ScoreToDistance {

  /**
   * Replaces {@code count} scores of {@code ordinals} against {@code pivot} by distances, in place.
   */
  void convert(int pivot, int[] ordinals, float[] scores, int count);

  /** From distances. */
  static ScoreToDistance none() {
    return (pivot, ordinals, scores, count) -> {};
  }

  /** From EUCLIDEAN scores, {@code 1 / (1 + distance)}. */
  static ScoreToDistance ofEuclidean() {
    return (pivot, ordinals, scores, count) -> {
      for (int i = 0; i < count; i++) {
        scores[i] = Math.max(0f, 1f / scores[i] - 1f);
      }
    };
  }

  /** From COSINE or unit-length DOT_PRODUCT scores, {@code (1 + cosine) / 2}. */
  static ScoreToDistance ofCosine() {
    return (pivot, ordinals, scores, count) -> {
      for (int i = 0; i < count; i++) {
        scores[i] = Math.max(0f, 4f * (1f - scores[i]));
      }
    };
  }

  /** From MAXIMUM_INNER_PRODUCT scores, the negated inner products. */
  static ScoreToDistance ofInnerProduct() {
    return (pivot, ordinals, scores, count) -> {
      for (int i = 0; i < count; i++) {
        scores[i] = -innerProduct(scores[i]);
      }
    };
  }

  /**
   * From MAXIMUM_INNER_PRODUCT scores, the distance of the vectors' directions.
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

  /** The product that Lucene's MAXIMUM_INNER_PRODUCT scaled to a positive score. */
  private static float innerProduct(float score) {
    return score >= 1f ? score - 1f : 1f - 1f / score;
  }
}
