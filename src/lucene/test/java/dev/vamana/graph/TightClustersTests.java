package dev.vamana.graph;

import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.junit.Test;

/**
 * Vectors in 20 tight clusters, which searches leave only by a few long edges. A second pass that
 * starts from a node's neighbours and does not look whether the node can be found links clusters
 * worse: mean recalls are 0.85 at a beam of 30 and 0.91 at 60, instead of 0.99.
 */
public class TightClustersTests extends RandomizedTest {

  private static final int SIZE = 3_000;
  private static final int CLUSTERS = 20;
  private static final int DIMENSION = 32;
  private static final int BUILDS = 4;
  private static final int QUERIES = 100;

  private static List<float[]> vectors(float spread) {
    float[][] vectors = new float[SIZE][DIMENSION];
    float[][] centres = new float[CLUSTERS][DIMENSION];
    for (float[] centre : centres) {
      for (int d = 0; d < DIMENSION; d++) {
        centre[d] = (float) getRandom().nextGaussian();
      }
    }
    for (float[] vector : vectors) {
      float[] centre = centres[randomIntBetween(0, CLUSTERS - 1)];
      for (int d = 0; d < DIMENSION; d++) {
        vector[d] = centre[d] + spread * (float) getRandom().nextGaussian();
      }
    }
    return Arrays.asList(vectors);
  }

  private static void assertRecall(
      VectorSimilarityFunction similarity, int degree, double atBeam30, double atBeam60)
      throws IOException {
    double narrow = 0;
    double wide = 0;
    for (int build = 0; build < BUILDS; build++) {
      BuildParameters parameters =
          new BuildParameters(degree, 2 * degree, 1.2f, getRandom().nextLong());
      GraphTask task =
          GraphChecks.task(
              GraphChecks.floats(vectors(build % 2 == 0 ? 0.02f : 0.1f)), similarity, parameters);
      int[] queries = getRandom().ints(QUERIES, 0, SIZE).toArray();
      try (VamanaGraph graph = GraphEngine.CPU.build(task)) {
        GraphChecks.assertWellFormed(graph, SIZE);
        narrow += GraphChecks.search(task, graph, queries, 30).recall() / BUILDS;
        wide += GraphChecks.search(task, graph, queries, 60).recall() / BUILDS;
      }
    }
    assertTrue("mean recall at a beam of 30: " + narrow, narrow >= atBeam30);
    assertTrue("mean recall at a beam of 60: " + wide, wide >= atBeam60);
  }

  @Test
  public void euclidean() throws IOException {
    assertRecall(VectorSimilarityFunction.EUCLIDEAN, 16, 0.93, 0.94);
  }

  @Test
  public void innerProduct() throws IOException {
    assertRecall(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT, 16, 0.95, 0.96);
  }
}
