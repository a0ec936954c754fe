package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.tests.util.LuceneTestCase;

public class CodebookTests extends LuceneTestCase {

  public void testEncodePicksTheNearestCentroid() {
    for (int round = 0; round < 30; round++) {
      SubspaceLayout layout = PqTestData.randomLayout(random(), 80);
      Codebook codebook = PqTestData.randomCodebook(random(), layout);
      PqEncoder encoder = new PqEncoder(codebook);
      for (float[] vector : PqTestData.gaussian(random(), 20, layout.dims())) {
        int offset = random().nextInt(5);
        byte[] code = new byte[offset + layout.count() + random().nextInt(3)];
        float error = encoder.encode(vector, code, offset);
        for (int s = 0; s < layout.count(); s++) {
          double[] distances = distances(codebook, s, vector);
          double nearest = Arrays.stream(distances).min().orElseThrow();
          double chosen = distances[code[offset + s] & 0xFF];
          // Equal but for the rounding of float sums.
          assertEquals(nearest, chosen, 1e-6 * (1 + nearest));
        }
        float[] decoded = new float[layout.dims()];
        codebook.decode(code, offset, decoded);
        double expected = PqTestData.squaredDistance(vector, decoded);
        assertEquals(expected, error, 1e-4 * (1 + expected));
        byte[] again = new byte[code.length];
        codebook.encode(vector, again, offset);
        assertArrayEquals(code, again);
      }
    }
  }

  public void testBlocksEncodeLikeSingleVectors() {
    SubspaceLayout layout = PqTestData.randomLayout(random(), 60);
    Codebook codebook = PqTestData.randomCodebook(random(), layout);
    int n = random().nextInt(20);
    float[] rows = PqTestData.gaussian(random(), 1, n * layout.dims())[0];
    int offset = random().nextInt(5);
    byte[] expected = new byte[offset + n * layout.count()];
    for (int i = 0; i < n; i++) {
      float[] row = Arrays.copyOfRange(rows, i * layout.dims(), (i + 1) * layout.dims());
      codebook.encode(row, expected, offset + i * layout.count());
    }
    byte[] codes = new byte[expected.length];
    new PqEncoder(codebook).encodeBlock(rows, n, codes, offset);
    assertArrayEquals(expected, codes);
  }

  public void testExtremeComponentsEncodeWithoutFailure() {
    SubspaceLayout layout = PqTestData.randomLayout(random(), 30);
    Codebook codebook = PqTestData.randomCodebook(random(), layout);
    byte[] code = new byte[layout.count()];
    for (float extreme : new float[] {Float.MAX_VALUE, -1e30f, Float.NaN, Float.MIN_VALUE}) {
      float[] vector = new float[layout.dims()];
      Arrays.fill(vector, extreme);
      codebook.encode(vector, code, 0);
    }
  }

  public void testQuantizationErrorIsTheMeanOverTheSample() throws IOException {
    SubspaceLayout layout = PqTestData.randomLayout(random(), 30);
    Codebook codebook = PqTestData.randomCodebook(random(), layout);
    float[][] rows = PqTestData.gaussian(random(), 1 + random().nextInt(200), layout.dims());
    double sum = 0;
    byte[] code = new byte[layout.count()];
    float[] decoded = new float[layout.dims()];
    for (float[] row : rows) {
      codebook.encode(row, code, 0);
      codebook.decode(code, 0, decoded);
      sum += PqTestData.squaredDistance(row, decoded);
    }
    double expected = sum / rows.length;
    double actual =
        codebook.quantizationError(TrainingSample.of(layout.dims(), rows), AbortCheck.NEVER);
    assertEquals(expected, actual, 1e-4 * expected);
    Workers several = new Workers(Runnable::run, 4);
    TrainingSample sample = TrainingSample.of(layout.dims(), rows);
    assertEquals(actual, codebook.quantizationError(sample, several, AbortCheck.NEVER), 0);
    TrainingSample empty = TrainingSample.of(layout.dims(), new float[0][]);
    assertEquals(0, codebook.quantizationError(empty, AbortCheck.NEVER), 0);
  }

  private static double[] distances(Codebook codebook, int s, float[] vector) {
    SubspaceLayout layout = codebook.layout();
    int length = layout.length(s);
    double[] result = new double[Codebook.CENTROIDS];
    for (int c = 0; c < result.length; c++) {
      int row = Codebook.CENTROIDS * layout.offset(s) + c * length;
      for (int d = 0; d < length; d++) {
        double difference = (double) vector[layout.offset(s) + d] - codebook.centroids()[row + d];
        result[c] += difference * difference;
      }
    }
    return result;
  }
}
