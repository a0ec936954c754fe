package dev.vamana.cuda;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqEncoder;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/** Compares codebooks and codes of the device with the CPU's, with the same seeds. */
public class TrainingParityTests extends DeviceTestCase {

  private static void compare(float[][] base, SubspaceLayout layout, int size) throws IOException {
    int dims = layout.dims();
    TrainingSample sample = TrainingSample.of(dims, Arrays.copyOf(base, size));
    PqTrainer.Options options = PqTrainer.Options.defaults(random().nextLong());
    Codebook expected =
        PqTrainer.train(
            PqEngine.NONE,
            sample,
            layout,
            CodebookId.random(),
            options,
            workers(),
            AbortCheck.NEVER);
    try (Gpu gpu = open(Placement.EXACT)) {
      PqEngine engine = gpu.executor().quantizer();
      float[] centroids = engine.train(sample, layout, options, workers(), AbortCheck.NEVER);
      assertNotNull("declined", centroids);
      for (int i = 0; i < 3; i++) {
        assertArrayEquals(
            "the same seed gives the same bits",
            centroids,
            engine.train(sample, layout, options, workers(), AbortCheck.NEVER),
            0);
      }
      Codebook actual = new Codebook(expected.id(), layout, centroids);
      double error = expected.quantizationError(sample, AbortCheck.NEVER);
      double ofDevice = actual.quantizationError(sample, AbortCheck.NEVER);
      assertEquals(layout.toString(), error, ofDevice, 0.001 * error);
      encode(engine, expected, base);
    }
  }

  /** Codes are the same: distances are rounded alike. */
  private static void encode(PqEngine engine, Codebook codebook, float[][] base)
      throws IOException {
    int length = codebook.layout().count();
    byte[] expected = new byte[base.length * length];
    workers()
        .forEachRange(
            0,
            base.length,
            () -> {
              PqEncoder encoder = new PqEncoder(codebook);
              return (from, to) -> {
                for (int i = from; i < to; i++) {
                  encoder.encode(base[i], expected, i * length);
                }
              };
            },
            AbortCheck.NEVER);
    RowSource source = RowSource.of(base);
    byte[] actual = new byte[expected.length];
    try (PqEngine.Encoder encoder =
        engine.encoder(codebook, base.length, workers(), AbortCheck.NEVER)) {
      assertNotNull("declined", encoder);
      assertTrue(encoder.encode(source, base.length, actual));
    }
    assertArrayEquals(expected, actual);
  }

  private static void compareSet(String name) throws IOException {
    String root = System.getProperty("vector.data");
    assumeTrue("vector.data is not set", root != null && root.isEmpty() == false);
    Path folder = Path.of(root, name);
    assumeTrue(folder + " is missing", Files.isDirectory(folder));
    VectorSet set = VectorSet.load(folder, null, Integer.MAX_VALUE).normalized();
    int dims = set.base().dimension();
    SubspaceLayout layout = new SubspaceLayout(dims, SubspaceLayout.defaultSubspaces(dims));
    compare(set.base().rows(), layout, PqTrainer.sampleSize(layout, set.base().size()));
  }

  public void testSift5k() throws IOException {
    compareSet("sift5k-ngt");
  }

  public void testSift100k() throws IOException {
    compareSet("sift100k-bsds");
  }

  public void testMnist() throws IOException {
    compareSet("mnist60k-784");
  }

  public void testGlove() throws IOException {
    compareSet("glove100-novels");
  }

  /** Every kernel that assigns rows, and subspaces of two lengths. */
  public void testLengthsOfSubspaces() throws IOException {
    Random random = new Random(random().nextLong());
    for (int length : new int[] {1, 3, 4, 5, 8, 9, 16, 17, 40, 130}) {
      int subspaces = 2 + random.nextInt(5);
      // the last ones may be shorter, but not empty
      int dims = length * subspaces - (length == 1 ? 0 : random.nextInt(subspaces - 1));
      int n = (1 << 20) / dims + 1 + random.nextInt(300);
      float[][] rows = new float[n][dims];
      for (float[] row : rows) {
        int cluster = random.nextInt(50);
        for (int d = 0; d < dims; d++) {
          row[d] = (cluster * 37 + d * 11) % 97 + (float) random.nextGaussian() * 10;
        }
      }
      compare(rows, new SubspaceLayout(dims, subspaces), n);
    }
  }
}
