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

  public void testCentroidsEncodeToThemselves() {
    SubspaceLayout layout = PqTestData.randomLayout(random(), 40);
    Codebook codebook = PqTestData.randomCodebook(random(), layout);
    float[] vector = new float[layout.dims()];
    byte[] code = new byte[layout.count()];
    byte[] encoded = new byte[layout.count()];
    for (int round = 0; round < 300; round++) {
      random().nextBytes(code);
      codebook.decode(code, 0, vector);
      assertEquals(0f, new PqEncoder(codebook).encode(vector, encoded, 0), 0f);
      assertArrayEquals(code, encoded);
    }
  }

  public void testEqualCentroidsEncodeToTheLowestOrdinal() {
    SubspaceLayout layout = PqTestData.randomLayout(random(), 30);
    float[] centroids = new float[Codebook.CENTROIDS * layout.dims()];
    int low = random().nextInt(Codebook.CENTROIDS);
    // Centroids from `low` on are 1, those before it are 5.
    for (int s = 0; s < layout.count(); s++) {
      int from = Codebook.CENTROIDS * layout.offset(s);
      int length = layout.length(s);
      Arrays.fill(centroids, from, from + low * length, 5);
      Arrays.fill(centroids, from + low * length, from + Codebook.CENTROIDS * length, 1);
    }
    Codebook codebook = new Codebook(CodebookId.random(), layout, centroids);
    byte[] code = new byte[layout.count()];
    codebook.encode(new float[layout.dims()], code, 0);
    byte[] expected = new byte[layout.count()];
    Arrays.fill(expected, (byte) low);
    assertArrayEquals(expected, code);
  }

  public void testArgminIsTheFirstMinimum() {
    float[] scratch = new float[Codebook.CENTROIDS / 2];
    for (int round = 0; round < 2000; round++) {
      float[] values = new float[Codebook.CENTROIDS];
      int distinct = 1 + random().nextInt(300);
      for (int c = 0; c < values.length; c++) {
        values[c] = random().nextInt(distinct);
      }
      int expected = 0;
      for (int c = 1; c < values.length; c++) {
        if (values[c] < values[expected]) {
          expected = c;
        }
      }
      assertEquals(expected, CentroidKernels.argmin(values, scratch));
    }
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

  public void testRefusesWrongShapes() {
    SubspaceLayout layout = new SubspaceLayout(10, 3);
    Codebook codebook = PqTestData.randomCodebook(random(), layout);
    expectThrows(
        IllegalArgumentException.class,
        () -> new Codebook(CodebookId.random(), layout, new float[2559]));
    expectThrows(
        IllegalArgumentException.class, () -> codebook.encode(new float[9], new byte[3], 0));
    expectThrows(
        IndexOutOfBoundsException.class, () -> codebook.encode(new float[10], new byte[3], 1));
    expectThrows(
        IndexOutOfBoundsException.class, () -> codebook.decode(new byte[2], 0, new float[10]));
    TrainingSample other = TrainingSample.of(9, new float[1][9]);
    expectThrows(
        IllegalArgumentException.class, () -> codebook.quantizationError(other, AbortCheck.NEVER));
    expectThrows(IllegalArgumentException.class, () -> TrainingSample.of(9, new float[1][10]));
  }

  public void testIdentityHasValueSemantics() {
    byte[] bytes = new byte[CodebookId.ID_BYTES];
    random().nextBytes(bytes);
    CodebookId id = new CodebookId(bytes, "photos", 3);
    CodebookId same = new CodebookId(bytes.clone(), "photos", 3);
    assertEquals(id, same);
    assertEquals(id.hashCode(), same.hashCode());
    assertNotEquals(id, new CodebookId(bytes, "photos", 4));
    assertNotEquals(id, new CodebookId(bytes, "", 3));
    bytes[random().nextInt(bytes.length)]++;
    assertNotEquals(id, new CodebookId(bytes, "photos", 3));
    assertEquals("the caller's array was copied", id, same);
    id.id()[0]++;
    assertEquals("the returned array is a copy", id, same);
    assertNotEquals(CodebookId.random(), CodebookId.random());
    expectThrows(IllegalArgumentException.class, () -> new CodebookId(new byte[15], "", 1));
    expectThrows(IllegalArgumentException.class, () -> new CodebookId(new byte[16], "", 0));
    expectThrows(
        IllegalArgumentException.class, () -> new CodebookId(new byte[16], "n".repeat(256), 1));
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
