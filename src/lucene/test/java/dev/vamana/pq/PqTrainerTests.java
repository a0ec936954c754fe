package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.NamedThreadFactory;

public class PqTrainerTests extends LuceneTestCase {

  public void testSameSeedGivesSameCentroidsForAnyThreadCount() throws Exception {
    SubspaceLayout layout = PqTestData.randomLayout(random(), 40);
    // More rows than the first level holds, so that levels and threads both matter.
    int n = 1 + random().nextInt(5000);
    float[][] rows = PqTestData.clustered(random(), n, layout.dims(), 50, 0.1);
    long seed = random().nextLong();
    float[] expected = train(rows, layout, PqTrainer.Options.defaults(seed)).centroids();
    ExecutorService executor = Executors.newFixedThreadPool(3, new NamedThreadFactory("pq-test"));
    try {
      for (int threads : new int[] {1, 2, 3, 8}) {
        Codebook codebook =
            PqTrainer.train(
                TrainingSample.of(layout.dims(), rows),
                layout,
                CodebookId.random(),
                PqTrainer.Options.defaults(seed),
                executor,
                threads,
                AbortCheck.NEVER);
        assertArrayEquals(expected, codebook.centroids(), 0f);
      }
    } finally {
      executor.shutdownNow();
    }
    Codebook rejected =
        PqTrainer.train(
            TrainingSample.of(layout.dims(), rows),
            layout,
            CodebookId.random(),
            PqTrainer.Options.defaults(seed),
            task -> {
              throw new RejectedExecutionException();
            },
            4,
            AbortCheck.NEVER);
    assertArrayEquals("a full pool only costs time", expected, rejected.centroids(), 0f);
  }

  public void testFewDistinctRowsAreReproducedExactly() throws IOException {
    for (int round = 0; round < 10; round++) {
      SubspaceLayout layout = PqTestData.randomLayout(random(), 20);
      int distinct = 1 + random().nextInt(Codebook.CENTROIDS);
      float[][] points = PqTestData.gaussian(random(), distinct, layout.dims());
      int n = random().nextBoolean() ? distinct : distinct + random().nextInt(3000);
      float[][] rows = new float[n][];
      for (int i = 0; i < n; i++) {
        rows[i] = points[i < distinct ? i : random().nextInt(distinct)];
      }
      Codebook codebook = train(rows, layout, PqTrainer.Options.defaults(random().nextLong()));
      double error = error(codebook, rows);
      // Means of equal rows: exact but for the rounding of the sum.
      assertEquals(0, error, 1e-10 * layout.dims());
    }
  }

  public void testRareValuesGetCentroids() throws IOException {
    // 1 % of the rows are not zero, as at the rim of images: few of them are in the first level.
    int n = 10_000;
    float[][] rows = new float[n][4];
    for (int i = 0; i < n; i += 100) {
      rows[i] = PqTestData.gaussian(random(), 1, 4)[0];
    }
    Codebook codebook =
        train(rows, new SubspaceLayout(4, 1), PqTrainer.Options.defaults(random().nextLong()));
    assertEquals(0, error(codebook, rows), 1e-2 * PqTestData.variance(rows));
  }

  /** Squared error of one subspace. */
  private static double error(float[] centroids, SubspaceLayout layout, int s, float[][] rows) {
    int length = layout.length(s);
    double sum = 0;
    for (float[] row : rows) {
      double nearest = Double.POSITIVE_INFINITY;
      for (int c = 0; c < Codebook.CENTROIDS; c++) {
        double distance = 0;
        for (int d = 0; d < length; d++) {
          int at = Codebook.CENTROIDS * layout.offset(s) + c * length + d;
          double difference = row[layout.offset(s) + d] - centroids[at];
          distance += difference * difference;
        }
        nearest = Math.min(nearest, distance);
      }
      sum += nearest;
    }
    return sum;
  }

  public void testErrorIsBelowTheBoundOfTheSource() throws IOException {
    // 200 tight clusters a subspace: an optimal quantizer leaves only the noise.
    int dims = 16;
    int m = 4;
    double deviation = 0.01;
    float[][] rows = new float[8000][dims];
    for (int s = 0; s < m; s++) {
      float[][] part = PqTestData.clustered(random(), rows.length, dims / m, 200, deviation);
      for (int i = 0; i < rows.length; i++) {
        System.arraycopy(part[i], 0, rows[i], s * dims / m, dims / m);
      }
    }
    Codebook codebook =
        train(rows, new SubspaceLayout(dims, m), PqTrainer.Options.defaults(random().nextLong()));
    double noise = dims * deviation * deviation;
    double error = error(codebook, rows);
    assertTrue("error " + error + ", noise " + noise, error < 3 * noise);
    assertTrue(error < 0.01 * PqTestData.variance(rows));
  }

  public void testAbortReachesTheCallerUnchanged() throws Exception {
    SubspaceLayout layout = new SubspaceLayout(32, 8);
    float[][] rows = PqTestData.gaussian(random(), 4000, 32);
    ExecutorService executor = Executors.newFixedThreadPool(2, new NamedThreadFactory("pq-test"));
    try {
      for (int threads : new int[] {1, 3}) {
        AtomicInteger calls = new AtomicInteger();
        int limit = 1 + random().nextInt(40);
        IOException stop = new IOException("merge aborted");
        IOException thrown =
            expectThrows(
                IOException.class,
                () ->
                    PqTrainer.train(
                        TrainingSample.of(32, rows),
                        layout,
                        CodebookId.random(),
                        PqTrainer.Options.defaults(1),
                        executor,
                        threads,
                        () -> {
                          if (calls.incrementAndGet() >= limit) {
                            throw stop;
                          }
                        }));
        assertSame(stop, thrown);
        assertTrue("the others stopped soon", calls.get() < limit + threads);
      }
    } finally {
      executor.shutdownNow();
    }
  }

  private static Codebook train(float[][] rows, SubspaceLayout layout, PqTrainer.Options options)
      throws IOException {
    return train(rows, layout, layout.dims(), options);
  }

  private static Codebook train(
      float[][] rows, SubspaceLayout layout, int dims, PqTrainer.Options options)
      throws IOException {
    float[][] cut = new float[rows.length][];
    for (int i = 0; i < rows.length; i++) {
      cut[i] = Arrays.copyOf(rows[i], dims);
    }
    return PqTrainer.train(
        TrainingSample.of(dims, cut), layout, CodebookId.random(), options, AbortCheck.NEVER);
  }

  private static double error(Codebook codebook, float[][] rows) throws IOException {
    int dims = codebook.layout().dims();
    return codebook.quantizationError(TrainingSample.of(dims, rows), AbortCheck.NEVER);
  }
}
