package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.Random;
import org.apache.lucene.tests.util.LuceneTestCase;

public class CodebookFitTests extends LuceneTestCase {

  private static final int DIMS = 18;
  private static final SubspaceLayout LAYOUT = new SubspaceLayout(DIMS, 5);

  public void testSameSourceFits() throws IOException {
    float[][] rows = PqTestData.clustered(random(), 12_000, DIMS, 30, 0.2);
    Codebook codebook = train(half(rows, 0));
    double ratio = ratio(codebook, half(rows, 1));
    assertTrue("ratio " + ratio, ratio > 0.8 && ratio < CodebookFit.KEEP_RATIO);
  }

  public void testOtherSourcesDoNotFit() throws IOException {
    Codebook codebook = train(PqTestData.clustered(random(), 6000, DIMS, 30, 0.1));
    double otherClusters = ratio(codebook, PqTestData.clustered(random(), 6000, DIMS, 30, 0.1));
    assertTrue("ratio " + otherClusters, otherClusters > CodebookFit.KEEP_RATIO);
    float[][] shifted = PqTestData.clustered(random(), 6000, DIMS, 30, 0.1);
    for (float[] row : shifted) {
      for (int d = 0; d < DIMS; d++) {
        row[d] += 10;
      }
    }
    double shift = ratio(codebook, shifted);
    assertTrue("ratio " + shift, shift > 100);
  }

  public void testScaleOfTheVectorsDoesNotMatter() throws IOException {
    long dataSeed = random().nextLong();
    float[][] rows = PqTestData.clustered(new Random(dataSeed), 8000, DIMS, 30, 0.2);
    double ratio = ratio(train(half(rows, 0)), half(rows, 1));
    for (float[] row : rows) {
      for (int d = 0; d < DIMS; d++) {
        row[d] *= 1024;
      }
    }
    assertEquals(ratio, ratio(train(half(rows, 0)), half(rows, 1)), 1e-9);
  }

  private static float[][] half(float[][] rows, int which) {
    float[][] result = new float[rows.length / 2][];
    for (int i = 0; i < result.length; i++) {
      result[i] = rows[2 * i + which];
    }
    return result;
  }

  private static Codebook train(float[][] rows) throws IOException {
    return PqTrainer.train(
        TrainingSample.of(DIMS, rows),
        LAYOUT,
        CodebookId.random(),
        PqTrainer.Options.defaults(3),
        AbortCheck.NEVER);
  }

  private static double ratio(Codebook codebook, float[][] rows) throws IOException {
    int dims = rows.length == 0 ? DIMS : rows[0].length;
    return CodebookFit.errorRatio(codebook, TrainingSample.of(dims, rows), 7, AbortCheck.NEVER);
  }
}
