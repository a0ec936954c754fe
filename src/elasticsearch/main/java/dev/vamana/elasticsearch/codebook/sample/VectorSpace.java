package dev.vamana.elasticsearch.codebook.sample;

import java.util.Arrays;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.ElementType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;

/**
 * The vectors that a codebook is for, in the terms of a {@code dense_vector} mapping.
 *
 * @param dims number of components, 1 to 4,096
 * @param similarity similarity of the mapping
 */
public record VectorSpace(int dims, VectorSimilarity similarity) {

  /**
   * Returns the similarity with a name.
   *
   * @throws IllegalArgumentException if there is none; the message lists the allowed names
   */
  public static VectorSimilarity similarity(String name) {
    for (VectorSimilarity similarity : VectorSimilarity.values()) {
      if (similarity.toString().equals(name)) {
        return similarity;
      }
    }
    throw new IllegalArgumentException(
        "[similarity] must be one of "
            + Arrays.toString(VectorSimilarity.values())
            + ", got ["
            + name
            + "]");
  }

  /** Lucene's similarity function of the field; cosine is the dot product of unit vectors. */
  public VectorSimilarityFunction function() {
    return similarity.vectorSimilarityFunction(IndexVersion.current(), ElementType.FLOAT);
  }

  /**
   * Converts a vector in place to the form in which an index stores it: unit length for cosine.
   *
   * @param vector the vector; changed in place
   * @return whether it can be stored: it has {@code dims} finite components, and a length above 0
   *     for cosine
   */
  public boolean prepare(float[] vector) {
    if (vector.length != dims) {
      return false;
    }
    double squares = 0;
    for (float component : vector) {
      squares += (double) component * component;
    }
    if (!Double.isFinite(squares)) {
      return false;
    }
    if (similarity == VectorSimilarity.COSINE) {
      double length = Math.sqrt(squares);
      for (int i = 0; i < vector.length; i++) {
        vector[i] = (float) (vector[i] / length);
      }
      return squares > 0;
    }
    return true;
  }
}
