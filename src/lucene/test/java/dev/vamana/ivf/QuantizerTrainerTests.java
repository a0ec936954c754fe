package dev.vamana.ivf;

import dev.vamana.pq.PqEngine;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/** How large the errors of product quantization are said to be. */
public class QuantizerTrainerTests extends IvfTestCase {

  private static final int SIZE = 2_000;
  private static final int DIMENSION = 16;
  private static final int LATENT = 4;
  private static final AbortCheck ABORT = () -> {};

  /** Vectors of few dimensions, all of which every subspace sees. */
  private static float[][] correlated() {
    float[][] directions = new float[LATENT][];
    for (int i = 0; i < LATENT; i++) {
      directions[i] = gaussian(DIMENSION);
    }
    float[][] vectors = new float[SIZE][DIMENSION];
    for (float[] vector : vectors) {
      for (float[] direction : directions) {
        float length = (float) random().nextGaussian();
        for (int d = 0; d < DIMENSION; d++) {
          vector[d] += length * direction[d];
        }
      }
    }
    return vectors;
  }

  /** A trainer over one list around the origin. */
  private static QuantizerTrainer trainer(float[][] vectors) throws IOException {
    ListVectors values =
        new ListVectors(
            FloatVectorValues.fromFloats(Arrays.asList(vectors), DIMENSION),
            VectorSimilarityFunction.EUCLIDEAN);
    Workers workers = Workers.callingThread();
    Rotation random = new Rotation(DIMENSION, 1);
    Centroids centroids =
        new Centroids(
            CentroidsId.random(),
            1,
            random,
            null,
            new float[1][DIMENSION],
            new float[1][random.padded()],
            1);
    ListAssignment lists =
        ListAssignment.of(values, centroids, List.of(), PqEngine.NONE, workers, ABORT);
    ListShape shape = new ListShape(SIZE, DIMENSION, 1, CodeKind.PQ);
    return new QuantizerTrainer(values, centroids, shape, lists, PqEngine.NONE, workers, ABORT);
  }

  /** Vectors that all moved in one direction, in which their queries have moved, too. */
  public void testTheBoundGrowsWithVectorsThatDrift() throws IOException {
    float[][] vectors = correlated();
    ResidualQuantizer trained = trainer(vectors).train();
    assertSame(trained, trainer(vectors).measured(trained));
    float[] drift = gaussian(DIMENSION);
    for (float[] vector : vectors) {
      for (int d = 0; d < DIMENSION; d++) {
        vector[d] += 50 * drift[d];
      }
    }
    ResidualQuantizer measured = trainer(vectors).measured(trained);
    String both = measured.errorQuantile() + ", " + trained.errorQuantile();
    assertTrue(both, measured.errorQuantile() > trained.errorQuantile() + 0.2f);
    assertSame(trained.codebook(), measured.codebook());
  }
}
