package dev.vamana.vectors;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;

public class RawComparisonTests extends LuceneTestCase {

  private static final int DIMENSION = 8;

  private static float[] vector(float scale) {
    float[] vector = new float[DIMENSION];
    for (int d = 0; d < DIMENSION; d++) {
      vector[d] = scale * (1 + random().nextFloat());
    }
    return vector;
  }

  private static RawComparison neededFor(List<float[]> vectors) throws IOException {
    return RawComparison.neededFor(
        FloatVectorValues.fromFloats(vectors, DIMENSION), VectorSimilarityFunction.EUCLIDEAN);
  }

  /** Many documents may have the same vector, whatever the size of vectors. */
  public void testEqualVectorsTellNothing() throws IOException {
    for (float scale : new float[] {1, 1e-4f}) {
      float[] often = vector(scale);
      List<float[]> vectors = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        vectors.add(random().nextInt(10) > 0 ? often : vector(scale));
      }
      // of the sample, the first and the last
      vectors.set(0, vector(scale));
      vectors.set(199, vector(scale));
      assertEquals(scale == 1 ? null : RawComparison.SQUARED_DISTANCE, neededFor(vectors));
    }
  }

  public void testScoresCompareEqualVectors() throws IOException {
    float[] only = vector(1e-4f);
    assertNull(neededFor(List.of(only, only.clone(), only.clone())));
    assertNull(neededFor(List.of(only)));
  }
}
