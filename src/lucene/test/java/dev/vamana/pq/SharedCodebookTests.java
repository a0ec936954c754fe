package dev.vamana.pq;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;

public class SharedCodebookTests extends LuceneTestCase {

  private static SharedCodebook randomCodebook() {
    int dims = random().nextInt(1, 40);
    SubspaceLayout layout = new SubspaceLayout(dims, random().nextInt(1, dims + 1));
    float[] centroids = new float[Codebook.CENTROIDS * dims];
    for (int i = 0; i < centroids.length; i++) {
      centroids[i] = (float) random().nextGaussian();
    }
    return new SharedCodebook(
        "n" + random().nextInt(1000) + "\u00e9",
        random().nextInt(1, Integer.MAX_VALUE),
        new Codebook(CodebookId.random(), layout, centroids),
        RandomPicks.randomFrom(random(), VectorSimilarityFunction.values()),
        new CodebookTraining(
            1L << random().nextInt(32, 60),
            random().nextInt(0, 100_000),
            random().nextDouble(),
            "index [\u00fc] field [v]"));
  }

  public void testBytesRoundTrip() {
    SharedCodebook written = randomCodebook();
    SharedCodebook read = SharedCodebook.fromBytes(written.toBytes());
    assertEquals(written.name(), read.name());
    assertEquals(written.version(), read.version());
    assertEquals(written.similarity(), read.similarity());
    assertEquals(written.training(), read.training());
    assertEquals(written.codebook().id(), read.codebook().id());
    assertEquals(written.codebook().layout(), read.codebook().layout());
    assertArrayEquals(written.codebook().centroids(), read.codebook().centroids(), 0);
  }

  public void testErrorIsMeasuredOnTheSample() throws IOException {
    float[][] vectors = new float[300][4];
    for (float[] vector : vectors) {
      for (int d = 0; d < vector.length; d++) {
        vector[d] = random().nextFloat();
      }
    }
    TrainingSample sample = TrainingSample.of(4, vectors);
    Codebook codebook =
        PqTrainer.train(
            sample,
            new SubspaceLayout(4, 2),
            CodebookId.random(),
            PqTrainer.Options.defaults(1),
            AbortCheck.NEVER);
    SharedCodebook shared =
        SharedCodebook.of(
            "a",
            1,
            codebook,
            VectorSimilarityFunction.EUCLIDEAN,
            sample,
            1000,
            "test",
            new Workers(Runnable::run, 3),
            AbortCheck.NEVER);
    assertEquals(new CodebookTraining(1000, 300, 0, "test"), withoutError(shared.training()));
    double sum = 0;
    float[] decoded = new float[4];
    byte[] code = new byte[2];
    for (float[] vector : vectors) {
      codebook.encode(vector, code, 0);
      codebook.decode(code, 0, decoded);
      for (int d = 0; d < 4; d++) {
        sum += Math.pow(vector[d] - decoded[d], 2);
      }
    }
    assertEquals(sum / 300, shared.training().quantizationError(), 1e-6);
  }

  private static CodebookTraining withoutError(CodebookTraining training) {
    return new CodebookTraining(
        training.vectors(), training.sampleSize(), 0, training.trainedFrom());
  }

  public void testEveryDamageIsFound() {
    byte[] bytes = randomCodebook().toBytes();
    for (int i = 0; i < 200; i++) {
      byte[] damaged = bytes.clone();
      int at = i < 80 ? i : random().nextInt(bytes.length);
      damaged[at] ^= (byte) (1 << random().nextInt(8));
      expectThrows(IllegalArgumentException.class, () -> SharedCodebook.fromBytes(damaged));
      byte[] cut = Arrays.copyOf(bytes, at);
      expectThrows(IllegalArgumentException.class, () -> SharedCodebook.fromBytes(cut));
    }
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
    expectThrows(IllegalArgumentException.class, () -> SharedCodebook.fromBytes(longer));
  }

  public void testWhichFieldsFit() {
    Codebook codebook = new Codebook(CodebookId.random(), new SubspaceLayout(3, 1), new float[768]);
    for (VectorSimilarityFunction trained : VectorSimilarityFunction.values()) {
      SharedCodebook shared =
          new SharedCodebook("a", 1, codebook, trained, new CodebookTraining(1, 1, 0, ""));
      for (VectorSimilarityFunction field : VectorSimilarityFunction.values()) {
        boolean unit = isUnit(trained) && isUnit(field);
        Optional<String> mismatch = shared.mismatch(3, VectorEncoding.FLOAT32, field);
        assertEquals(trained + " " + field, trained == field || unit, mismatch.isEmpty());
      }
      assertEquals(
          Optional.of("has dimension 3, the field has 4"),
          shared.mismatch(4, VectorEncoding.FLOAT32, trained));
      assertEquals(
          Optional.of("is for vectors of floats, the field has BYTE"),
          shared.mismatch(3, VectorEncoding.BYTE, trained));
    }
  }

  private static boolean isUnit(VectorSimilarityFunction function) {
    return function == VectorSimilarityFunction.COSINE
        || function == VectorSimilarityFunction.DOT_PRODUCT;
  }
}
