package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/** Finds the vector nearest to the mean of a field's vectors, where searches start. */
public final class Medoid {

  // a larger sample moves the mean too little to matter
  private static final int MAX_SAMPLE = 16_384;

  private Medoid() {}

  /**
   * Returns the ordinal of the vector nearest to the mean. Both the mean and the candidates are an
   * evenly spaced sample of at most {@value #MAX_SAMPLE} vectors. Distances are squared Euclidean,
   * on unit vectors for COSINE.
   *
   * @param values at least one vector, random access by ordinal
   */
  public static int find(KnnVectorValues values, VectorSimilarityFunction similarity)
      throws IOException {
    int size = values.size();
    int count = Math.min(size, MAX_SAMPLE);
    FloatVectors vectors = new FloatVectors(values, similarity);
    float[] mean = mean(values, similarity);
    float[] vector = new float[mean.length];
    int best = 0;
    float bestDistance = Float.POSITIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      int ordinal = ordinal(i, count, size);
      vectors.read(ordinal, vector);
      float distance = VectorUtil.squareDistance(mean, vector);
      if (distance < bestDistance) {
        bestDistance = distance;
        best = ordinal;
      }
    }
    return best;
  }

  /**
   * Returns the mean of an evenly spaced sample of at most {@value #MAX_SAMPLE} vectors, of unit
   * vectors for COSINE.
   *
   * @param values at least one vector, random access by ordinal
   */
  public static float[] mean(KnnVectorValues values, VectorSimilarityFunction similarity)
      throws IOException {
    int size = values.size();
    int count = Math.min(size, MAX_SAMPLE);
    FloatVectors vectors = new FloatVectors(values, similarity);
    float[] vector = new float[values.dimension()];
    double[] sum = new double[vector.length];
    for (int i = 0; i < count; i++) {
      vectors.read(ordinal(i, count, size), vector);
      for (int d = 0; d < vector.length; d++) {
        sum[d] += vector[d];
      }
    }
    float[] mean = new float[vector.length];
    for (int d = 0; d < mean.length; d++) {
      mean[d] = (float) (sum[d] / count);
    }
    return mean;
  }

  private static int ordinal(int i, int count, int size) {
    return (int) ((long) i * size / count);
  }
}
