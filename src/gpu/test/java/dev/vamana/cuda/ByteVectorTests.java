package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.ByteVectors;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/**
 * Tests walks over vectors of bytes and over copies in bytes. They run on the device if there is
 * one, otherwise with the kernels' counterparts on the CPU.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class ByteVectorTests extends LuceneTestCase {

  private static final long SIMULATED_BYTES = 1L << 30;
  private static final int K = 10;
  private static final VamanaParameters GRAPH =
      VamanaParameters.DEFAULT.withGraph(16, 32, 1.2f).withSubspaces(8).withThresholds(0, 0);

  private static Gpu open(Placement placement, Tuning tuning) {
    return Gpu.missing() == null
        ? Gpu.open(placement, tuning)
        : Gpu.open(
            () -> new SimulatedDriver(SimtKernels.load(), SIMULATED_BYTES, random().nextBoolean()),
            placement,
            tuning);
  }

  private static Tuning anyWarps() {
    return Tuning.DEFAULT.withWarps(Tuning.WARPS.get(random().nextInt(Tuning.WARPS.size())));
  }

  private static List<WorkResult> search(
      DeviceSegment segment, Placement placement, List<WorkItem> items)
      throws IOException, InterruptedException {
    try (Gpu gpu = open(placement, anyWarps())) {
      SegmentView view = segment.view();
      DeviceTestCase.serve(gpu, view);
      Gpu.Counts before = gpu.counts();
      List<WorkResult> results = gpu.executor().search(items);
      DeviceTestCase.assertNoFallback(gpu, before);
      assertTrue("the device answers nothing", gpu.counts().answered() > before.answered());
      gpu.executor().closing(view);
      return results;
    }
  }

  private static int[] nearest(float[] scores) {
    return IntStream.range(0, scores.length)
        .boxed()
        .sorted(Comparator.<Integer>comparingDouble(i -> -scores[i]).thenComparingInt(i -> i))
        .limit(K)
        .mapToInt(i -> i)
        .toArray();
  }

  /** Distances, and one of the others. */
  private static List<VectorSimilarityFunction> similarities() {
    return List.of(
        VectorSimilarityFunction.EUCLIDEAN,
        VectorSimilarityFunction.values()[1 + random().nextInt(3)]);
  }

  private static List<WorkItem> items(
      DeviceSegment segment, List<QueryVector> queries, WalkParameters walk) {
    return queries.stream()
        .map(query -> DeviceTestCase.item(segment.view(), query, K, walk))
        .toList();
  }

  private static List<QueryVector> wide(int size, int dimension) {
    return Arrays.stream(ByteVectors.wide(random(), size, dimension)).map(QueryVector::of).toList();
  }

  /** Walks of bytes are the CPU's, and scores are Lucene's, to the last bit in every placement. */
  public void testBytesOfManyDimensions() throws Exception {
    int size = 400;
    for (VectorSimilarityFunction similarity : similarities()) {
      int dimension = TestUtil.nextInt(random(), 259, random().nextInt(4) > 0 ? 600 : 4096);
      List<QueryVector> vectors = wide(size, dimension);
      List<QueryVector> queries = wide(20, dimension);
      try (DeviceSegment segment =
          DeviceSegment.of(createTempDir(), vectors, similarity, GRAPH, Workers.callingThread())) {
        for (Placement placement :
            List.of(
                Placement.EXACT,
                Placement.IN_MEMORY,
                Placement.MAPPED_GRAPH,
                Placement.HOST_FETCH)) {
          String what = placement + ", " + similarity + ", dimension " + dimension;
          boolean exact = placement == Placement.EXACT;
          WalkParameters walk = exact ? WalkParameters.exact(K) : WalkParameters.quantized(K, K);
          List<WorkResult> results = search(segment, placement, items(segment, queries, walk));
          for (int q = 0; q < queries.size(); q++) {
            WorkResult result = results.get(q);
            assertEquals(what, K, result.ordinals().length);
            for (int i = 0; i < K; i++) {
              byte[] hit = vectors.get(result.ordinals()[i]).bytes();
              float score = similarity.compare(queries.get(q).bytes(), hit);
              assertEquals(what, score, result.scores()[i], 0);
            }
          }
          if (exact) {
            List<WorkResult> expected =
                new CpuExecutor(Workers.callingThread()).search(items(segment, queries, walk));
            for (int q = 0; q < queries.size(); q++) {
              assertArrayEquals(what, expected.get(q).ordinals(), results.get(q).ordinals());
            }
          }
        }
      }
    }
  }

  /**
   * Copies of one byte a component find what walks on the vectors find, whatever one of them is.
   */
  public void testAnOutlierCostsNoRecall() throws Exception {
    int size = 800;
    int dimension = 24;
    WalkParameters walk = WalkParameters.exact(20);
    for (VectorSimilarityFunction similarity : similarities()) {
      List<QueryVector> all =
          DeviceSegment.clustered(
              new Random(random().nextLong()),
              size + 50,
              dimension,
              VectorEncoding.FLOAT32,
              similarity);
      List<QueryVector> queries = all.subList(size, size + 50);
      if (similarity != VectorSimilarityFunction.DOT_PRODUCT) {
        // which is of vectors of length 1, so that no component is far from the others
        all.get(random().nextInt(size)).floats()[random().nextInt(dimension)] *= 1_000;
      }
      try (DeviceSegment segment =
          DeviceSegment.of(
              createTempDir(), all.subList(0, size), similarity, GRAPH, Workers.callingThread())) {
        double exact = recall(segment, Placement.EXACT, queries, walk);
        double copies = recall(segment, Placement.EXACT_INT8, queries, walk);
        assertTrue(similarity + ": " + copies + " < " + exact, copies >= exact - 0.02);
      }
    }
  }

  private static double recall(
      DeviceSegment segment, Placement placement, List<QueryVector> queries, WalkParameters walk)
      throws IOException, InterruptedException {
    List<WorkResult> results = search(segment, placement, items(segment, queries, walk));
    int found = 0;
    for (int q = 0; q < queries.size(); q++) {
      float[] scores = new float[segment.view().size()];
      for (int i = 0; i < scores.length; i++) {
        scores[i] =
            segment
                .view()
                .similarity()
                .compare(queries.get(q).floats(), segment.vectors().get(i).floats());
      }
      float least = scores[nearest(scores)[K - 1]];
      for (int ordinal : results.get(q).ordinals()) {
        found += scores[ordinal] >= least ? 1 : 0;
      }
    }
    return found / (double) (K * queries.size());
  }
}
