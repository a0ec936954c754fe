package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.NamedThreadFactory;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/**
 * Base class of tests that need a GPU; they are skipped without one. docs/internals/gpu-suite.md
 * describes how to run them.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public abstract class DeviceTestCase extends LuceneTestCase {

  private static final long SIMULATED_SEARCH_BYTES = 1L << 28;

  /** Placements that walk as the reference walks. */
  static final List<Placement> EXACT_WALKS = List.of(Placement.EXACT);

  static final List<Placement> QUANTIZED_WALKS =
      List.of(Placement.IN_MEMORY, Placement.MAPPED_GRAPH, Placement.HOST_FETCH);

  /** Whether the CPU runs the kernels instead, which checks the tests themselves. */
  private static final boolean SIMULATED = Boolean.getBoolean("tests.gpu.simulated");

  private static final long SIMULATED_BYTES = 4L << 30;

  private static ExecutorService pool;
  private static Workers workers;

  @BeforeClass
  public static void startThreads() {
    String missing = SIMULATED ? null : Gpu.missing();
    assumeTrue("no usable GPU: " + missing, missing == null);
    pool =
        Executors.newFixedThreadPool(
            Runtime.getRuntime().availableProcessors(), new NamedThreadFactory("device-test"));
    workers = new Workers(pool, Runtime.getRuntime().availableProcessors());
  }

  @AfterClass
  public static void stopThreads() {
    if (pool != null) {
      pool.shutdown();
      pool = null;
      workers = null;
    }
  }

  static Workers workers() {
    return workers;
  }

  /** Opens the executor with all segments in this placement. */
  static Gpu open(Placement placement) {
    return open(placement, Tuning.DEFAULT);
  }

  /** As {@link #open(Placement)}, with other choices about kernels. */
  static Gpu open(Placement placement, Tuning tuning) {
    return SIMULATED
        ? Gpu.open(
            () -> new SimulatedDriver(SimtKernels.load(), SIMULATED_BYTES, true), placement, tuning)
        : Gpu.open(placement, tuning);
  }

  /** Tells the executor of a segment and waits for the device to serve it. */
  static void serve(Gpu gpu, SegmentView view) throws InterruptedException {
    gpu.executor().opened(view);
    gpu.await(List.of(view));
  }

  /** Searches a segment on a simulated device whose launches are carried out by given kernels. */
  static List<WorkResult> search(
      SimulatedKernels kernels,
      DeviceSegment segment,
      List<WorkItem> items,
      Placement placement,
      Tuning tuning)
      throws Exception {
    try (Gpu gpu =
        Gpu.open(
            () -> new SimulatedDriver(kernels, SIMULATED_SEARCH_BYTES, false), placement, tuning)) {
      serve(gpu, segment.view());
      Gpu.Counts before = gpu.counts();
      List<WorkResult> results = gpu.executor().search(items);
      assertNoFallback(gpu, before);
      gpu.executor().closing(segment.view());
      return results;
    }
  }

  /** Clustered vectors of 20 components, with a graph and codes. */
  static DeviceSegment smallSegment(int size) throws IOException {
    return DeviceSegment.of(
        createTempDir(),
        DeviceSegment.clustered(
            new Random(random().nextLong()),
            size,
            20,
            VectorEncoding.FLOAT32,
            VectorSimilarityFunction.EUCLIDEAN),
        VectorSimilarityFunction.EUCLIDEAN,
        VamanaParameters.DEFAULT.withGraph(32, 48, 1.2f).withSubspaces(5).withThresholds(0, 0),
        workers());
  }

  static WorkItem item(SegmentView view, QueryVector query, int k, WalkParameters walk) {
    return item(view, query, k, walk, null, view.size(), Long.MAX_VALUE, new int[0]);
  }

  static WorkItem item(
      SegmentView view,
      QueryVector query,
      int k,
      WalkParameters walk,
      Bits accepted,
      int acceptedCount,
      long visitLimit,
      int[] entryPoints) {
    return new WorkItem(
        view, query, k, walk, accepted, acceptedCount, visitLimit, () -> false, entryPoints);
  }

  /** Some queries: the segment's own vectors and others like them. */
  static List<WorkItem> items(
      DeviceSegment segment, List<QueryVector> queries, int k, WalkParameters walk) {
    List<WorkItem> items = new ArrayList<>();
    for (QueryVector query : queries) {
      items.add(item(segment.view(), query, k, walk));
    }
    return items;
  }

  /** Asserts that none of the items was answered by the CPU. */
  static void assertNoFallback(Gpu gpu, Gpu.Counts before) throws IOException {
    assertEquals(
        "items that the CPU answered: " + gpu.fallbacks(),
        before.fallbacks(),
        gpu.counts().fallbacks());
  }
}
