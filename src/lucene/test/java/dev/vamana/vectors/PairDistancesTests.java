package dev.vamana.vectors;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.VectorUtil;

/** Distances that graphs are built with. */
public class PairDistancesTests extends LuceneTestCase {

  private static final int SIZE = 40;
  private static final int DIMENSION = 12;

  private static List<float[]> vectors(VectorSimilarityFunction similarity) {
    List<float[]> vectors = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      float length = (float) Math.exp(random().nextGaussian());
      float[] vector = new float[DIMENSION];
      for (int d = 0; d < DIMENSION; d++) {
        vector[d] = length * (float) random().nextGaussian();
      }
      if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
        VectorUtil.l2normalize(vector);
      }
      vectors.add(vector);
    }
    return vectors;
  }

  private static PairDistances distances(List<float[]> vectors, VectorSimilarityFunction similarity)
      throws Exception {
    return new PairDistanceFactory(
            FlatVectorScorerUtil.getLucene99FlatVectorsScorer(),
            similarity,
            FloatVectorValues.fromFloats(vectors, DIMENSION),
            Workers.callingThread(),
            AbortCheck.NEVER)
        .create();
  }

  private static double direction(float[] one, float[] other) {
    double norms = Math.sqrt(squaredLength(one) * squaredLength(other));
    return 2 - 2 * VectorUtil.dotProduct(one, other) / norms;
  }

  private static double squaredLength(float[] vector) {
    return VectorUtil.dotProduct(vector, vector);
  }

  public void testDistancesAndTheirScale() throws Exception {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      List<float[]> vectors = vectors(similarity);
      PairDistances distances = distances(vectors, similarity);
      boolean products = similarity == VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT;
      assertEquals(products == false, distances.scalable());
      int pivot = random().nextInt(SIZE);
      distances.pivot(pivot);
      int[] others = new int[SIZE];
      Arrays.setAll(others, i -> i);
      float[] found = new float[SIZE];
      distances.distances(others, found, SIZE);
      for (int other = 0; other < SIZE; other++) {
        float[] one = vectors.get(pivot);
        float[] two = vectors.get(other);
        double directions = direction(one, two);
        double expected =
            switch (similarity) {
              case EUCLIDEAN -> VectorUtil.squareDistance(one, two);
              case DOT_PRODUCT, COSINE -> directions;
              case MAXIMUM_INNER_PRODUCT -> -VectorUtil.dotProduct(one, two);
            };
        double rounding = 1e-5 * (1 + squaredLength(one) + squaredLength(two));
        assertEquals(similarity + "", expected, found[other], rounding);
        assertEquals(
            similarity + "",
            products ? directions : found[other],
            distances.scaled(other, found[other]),
            products ? 1e-4 : 0);
      }
    }
  }

  public void testLengthsAndTheZeroVector() throws Exception {
    List<float[]> vectors = vectors(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);
    int zero = random().nextInt(SIZE);
    vectors.set(zero, new float[DIMENSION]);
    PairDistances products = distances(vectors, VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);
    PairDistances others = distances(vectors, VectorSimilarityFunction.EUCLIDEAN);
    for (int i = 0; i < SIZE; i++) {
      int other = random().nextInt(SIZE);
      double difference = squaredLength(vectors.get(other)) - squaredLength(vectors.get(i));
      assertEquals(Math.signum(difference), Math.signum(products.longerFirst(i, other)), 0);
      assertEquals(0, others.longerFirst(i, other));
      assertTrue(i == zero || products.longerFirst(i, zero) < 0);
      products.pivot(zero);
      assertEquals(0, products.scaled(i, 0), 0);
      products.pivot(i);
      assertEquals(i == zero ? 0 : 2, products.scaled(zero, 0), 0);
    }
  }
}
