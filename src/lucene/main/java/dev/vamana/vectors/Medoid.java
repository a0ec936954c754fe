package dev.vamana.vectors;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
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
   * Returns the ordinal of the vector nearest to the mean, found by the calling thread.
   *
   * @param values at least one vector, random access by ordinal
   */
  public static int find(KnnVectorValues values, VectorSimilarityFunction similarity)
      throws IOException {
    Workers alone = Workers.callingThread();
    float[] mean = mean(values, similarity, alone, AbortCheck.NEVER);
    return find(values, similarity, mean, alone, AbortCheck.NEVER);
  }

  /**
   * Returns the ordinal of the vector nearest to the mean. The candidates are an evenly spaced
   * sample of at most {@value #MAX_SAMPLE} vectors. Distances are squared Euclidean, on unit
   * vectors for COSINE.
   *
   * @param values at least one vector, random access by ordinal
   * @param mean from {@link #mean}
   * @param workers threads that read the sample; the result does not depend on their number
   */
  public static int find(
      KnnVectorValues values,
      VectorSimilarityFunction similarity,
      float[] mean,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    int size = values.size();
    int count = Math.min(size, MAX_SAMPLE);
    int[] nearest = new int[parts(count)];
    float[] distances = new float[nearest.length];
    workers.forEachRange(
        0,
        count,
        () -> {
          FloatVectors vectors = open(values, similarity);
          float[] vector = new float[mean.length];
          return (from, to) -> {
            int part = from / Workers.RANGE;
            distances[part] = Float.POSITIVE_INFINITY;
            for (int i = from; i < to; i++) {
              int ordinal = ordinal(i, count, size);
              vectors.read(ordinal, vector);
              float distance = VectorUtil.squareDistance(mean, vector);
              if (distance < distances[part]) {
                distances[part] = distance;
                nearest[part] = ordinal;
              }
            }
          };
        },
        abort);
    int best = 0;
    for (int part = 1; part < nearest.length; part++) {
      best = distances[part] < distances[best] ? part : best;
    }
    return nearest[best];
  }

  /**
   * Returns the mean of an evenly spaced sample of at most {@value #MAX_SAMPLE} vectors, of unit
   * vectors for COSINE.
   *
   * @param values at least one vector, random access by ordinal
   * @param workers threads that read the sample; the result does not depend on their number
   */
  public static float[] mean(
      KnnVectorValues values,
      VectorSimilarityFunction similarity,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    int size = values.size();
    int dimension = values.dimension();
    int count = Math.min(size, MAX_SAMPLE);
    double[][] sums = new double[parts(count)][];
    workers.forEachRange(
        0,
        count,
        () -> {
          FloatVectors vectors = open(values, similarity);
          float[] vector = new float[dimension];
          return (from, to) -> {
            double[] sum = new double[dimension];
            for (int i = from; i < to; i++) {
              vectors.read(ordinal(i, count, size), vector);
              for (int d = 0; d < dimension; d++) {
                sum[d] += vector[d];
              }
            }
            sums[from / Workers.RANGE] = sum;
          };
        },
        abort);
    float[] mean = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      double sum = 0;
      for (double[] part : sums) {
        sum += part[d];
      }
      mean[d] = (float) (sum / count);
    }
    return mean;
  }

  private static int parts(int count) {
    return (count + Workers.RANGE - 1) / Workers.RANGE;
  }

  private static FloatVectors open(KnnVectorValues values, VectorSimilarityFunction similarity)
      throws IOException {
    synchronized (values) {
      return new FloatVectors(values.copy(), similarity);
    }
  }

  private static int ordinal(int i, int count, int size) {
    return (int) ((long) i * size / count);
  }
}
