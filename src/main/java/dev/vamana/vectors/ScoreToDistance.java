package dev.vamana.vectors;

import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Turns the score that Lucene gives a pair of stored vectors into the distance that graph
 * construction works with.
 *
 * <ul>
 *   <li>EUCLIDEAN: the squared distance, {@code 1 / score - 1}.
 *   <li>COSINE, and DOT_PRODUCT of floats (unit length by contract): the squared distance of the
 *       unit vectors, {@code 2 - 2 cos}.
 *   <li>DOT_PRODUCT of bytes and MAXIMUM_INNER_PRODUCT: the squared distance, from the inner
 *       product and the two squared norms.
 * </ul>
 */
interface ScoreToDistance {

  /**
   * Replaces {@code count} scores of {@code ordinals} against {@code pivot} by distances, in place.
   */
  void convert(int pivot, int[] ordinals, float[] scores, int count);

  /** Whether the conversion needs the squared norm of every vector. */
  static boolean needsNorms(VectorSimilarityFunction similarity, VectorEncoding encoding) {
    return similarity == VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT
        || (similarity == VectorSimilarityFunction.DOT_PRODUCT && encoding == VectorEncoding.BYTE);
  }

  /**
   * The conversion for a field.
   *
   * @param squaredNorms one squared norm an ordinal where {@link #needsNorms} says so, else ignored
   */
  static ScoreToDistance of(
      VectorSimilarityFunction similarity,
      VectorEncoding encoding,
      int dimension,
      float[] squaredNorms) {
    return switch (similarity) {
      case EUCLIDEAN ->
          (pivot, ordinals, scores, count) -> {
            for (int i = 0; i < count; i++) {
              scores[i] = Math.max(0f, 1f / scores[i] - 1f);
            }
          };
      case COSINE ->
          (pivot, ordinals, scores, count) -> {
            for (int i = 0; i < count; i++) {
              scores[i] = Math.max(0f, 4f * (1f - scores[i]));
            }
          };
      case DOT_PRODUCT ->
          encoding == VectorEncoding.FLOAT32
              ? of(VectorSimilarityFunction.COSINE, encoding, dimension, null)
              : byteDotProduct(dimension, squaredNorms);
      case MAXIMUM_INNER_PRODUCT ->
          (pivot, ordinals, scores, count) -> {
            float pivotNorm = squaredNorms[pivot];
            for (int i = 0; i < count; i++) {
              float score = scores[i];
              float product = score >= 1f ? score - 1f : 1f - 1f / score;
              scores[i] = Math.max(0f, pivotNorm + squaredNorms[ordinals[i]] - 2f * product);
            }
          };
    };
  }

  private static ScoreToDistance byteDotProduct(int dimension, float[] squaredNorms) {
    // Lucene scores bytes as 0.5 + product / (dimension * 2^15)
    float scale = dimension * (float) (1 << 15);
    return (pivot, ordinals, scores, count) -> {
      float pivotNorm = squaredNorms[pivot];
      for (int i = 0; i < count; i++) {
        float product = (scores[i] - 0.5f) * scale;
        scores[i] = Math.max(0f, pivotNorm + squaredNorms[ordinals[i]] - 2f * product);
      }
    };
  }
}
