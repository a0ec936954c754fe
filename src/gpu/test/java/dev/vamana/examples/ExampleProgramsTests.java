package dev.vamana.examples;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The programs of docs/lucene run, and find what a comparison with every vector finds. */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class ExampleProgramsTests extends LuceneTestCase {

  private static final int QUERIES = 100;
  private static final int K = 10;
  private static final long DEVICE_BYTES = 1L << 30;

  /**
   * Least share of the nearest vectors that a program finds. Scans find all. Walks find 0.91 of
   * them, 0.910 to 0.916 in five runs: vectors and queries are the same in every run, and only the
   * order in which threads link nodes differs. A graph that loses half of the hits is broken.
   */
  private static final double LEAST_RECALL = 0.5;

  public void testCpu() throws Exception {
    TopDocs[] answers = CpuSearch.run(createTempDir());
    assertNearest(answers, true);
  }

  public void testGpu() throws Exception {
    Path folder = createTempDir();
    CpuSearch.run(folder);
    assertNearest(GpuSearch.run(folder, device()), false);
  }

  /** No machine has a device of this number, so the CPU answers. */
  public void testGpuProgramWithoutDevice() throws Exception {
    Path folder = createTempDir();
    CpuSearch.run(folder);
    assertNearest(GpuSearch.run(folder, new DeviceProbe(1000)::open), false);
  }

  /** The GPU of this machine, or a simulated device that runs the kernels on the CPU. */
  private static Supplier<CudaDriver> device() {
    DeviceProbe probe = new DeviceProbe(0);
    if (probe.result().usable()) {
      return probe::open;
    }
    SimtKernels kernels = SimtKernels.load();
    return () -> new SimulatedDriver(kernels, DEVICE_BYTES, true);
  }

  private static void assertNearest(TopDocs[] answers, boolean recentOnly) {
    float[][] vectors = vectors(7, CpuSearch.VECTORS);
    float[][] queries = vectors(8, QUERIES);
    assertEquals(QUERIES, answers.length);
    int found = 0;
    for (int i = 0; i < QUERIES; i++) {
      ScoreDoc[] hits = answers[i].scoreDocs;
      assertEquals(K, hits.length);
      float[] best = scores(vectors, queries[i], recentOnly);
      for (int rank = 0; rank < K; rank++) {
        assertTrue(recentOnly == false || recent(hits[rank].doc));
        float exact = score(vectors[hits[rank].doc], queries[i]);
        assertEquals(exact, hits[rank].score, 1e-5f);
        assertTrue(rank == 0 || hits[rank - 1].score >= hits[rank].score);
        if (exact >= best[best.length - K]) {
          found++;
        }
      }
    }
    double recall = found / (double) (QUERIES * K);
    assertTrue("recall " + recall, recall >= LEAST_RECALL);
  }

  private static float[][] vectors(long seed, int count) {
    Random random = new Random(seed);
    float[][] vectors = new float[count][];
    for (int i = 0; i < count; i++) {
      vectors[i] = CpuSearch.vector(random);
    }
    return vectors;
  }

  private static float[] scores(float[][] vectors, float[] query, boolean recentOnly) {
    float[] scores = new float[vectors.length];
    int count = 0;
    for (int doc = 0; doc < vectors.length; doc++) {
      if (recentOnly == false || recent(doc)) {
        scores[count++] = score(vectors[doc], query);
      }
    }
    scores = Arrays.copyOf(scores, count);
    Arrays.sort(scores);
    return scores;
  }

  private static boolean recent(int doc) {
    return doc % 25 >= 15;
  }

  private static float score(float[] vector, float[] query) {
    float sum = 0;
    for (int i = 0; i < vector.length; i++) {
      sum += (vector[i] - query[i]) * (vector[i] - query[i]);
    }
    return 1 / (1 + sum);
  }
}
