package dev.vamana.cuda;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.ExistingGraph;
import dev.vamana.graph.GraphChecks;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Devices that answer wrong without an error. */
public class DistrustTests extends GpuTestCase {

  private static final int LEAST_GRAPH = 300;
  private static final int DIMENSION = 64;
  private static final int SIZE = 1_000;
  private static final String WRONG = "the device answers wrong: ";

  /** Kernels some of which do nothing, so that what was in memory before is taken as the answer. */
  private static final class LameKernels implements SimulatedKernels {
    private volatile String lame = "none";
    private volatile boolean skipped;

    @Override
    public Body find(String name) {
      Body body = kernels.find(name);
      return (blocks, threads, sharedBytes, parameters) -> {
        if (name.startsWith(lame)) {
          skipped = true;
        } else {
          body.run(blocks, threads, sharedBytes, parameters);
        }
      };
    }
  }

  private static final class Told extends QuietListener {
    final List<FallbackReason> reasons = new CopyOnWriteArrayList<>();
    final List<String> losses = new CopyOnWriteArrayList<>();
    final List<DeviceInfo> recoveries = new CopyOnWriteArrayList<>();

    @Override
    public void fallback(FallbackReason reason, String detail) {
      reasons.add(reason);
    }

    @Override
    public void lost(GpuException cause, long retryMillis) {
      losses.add(cause.getMessage());
    }

    @Override
    public void recovered(DeviceInfo device) {
      recoveries.add(device);
    }
  }

  private final LameKernels lame = new LameKernels();
  private final Told told = new Told();

  private static GpuExecutor open(Supplier<CudaDriver> drivers, GpuOptions options, Told told) {
    ResidencyOptions residency =
        ResidencyOptions.defaults(1L << 30)
            .withPlacement(Placement.EXACT)
            .withLimits(MemoryLimit.percent(60), MemoryLimit.percent(60))
            .withTimes(Duration.ZERO, Duration.ZERO);
    return GpuExecutor.open(
        drivers, residency, options.withTimes(times -> times.retry(1_000_000, 8_000_000)), told);
  }

  private static GpuOptions options(long interval) {
    return WALKS
        .withBatches(BATCHES)
        .withTimes(times -> times.selfTest(interval))
        .withLeast(1, LEAST_GRAPH);
  }

  private GpuExecutor open(long interval) {
    return open(options(interval));
  }

  private GpuExecutor open(GpuOptions options) {
    assumeTrue("needs kernels of the host", kernels != null);
    return open(
        () -> new SimulatedDriver(lame, DEVICE_BYTES, random().nextBoolean()), options, told);
  }

  /** Searches until the device answers. */
  private static void awaitDevice(
      GpuExecutor executor, List<WorkItem> items, List<WorkResult> expected) throws Exception {
    long before = executor.statistics().counter("items_by_placement", "exact");
    await(() -> executor.statistics().usable());
    do {
      List<WorkResult> found = executor.search(items);
      if (expected != null) {
        assertSame(expected, found, 0.98);
      }
    } while (executor.statistics().counter("items_by_placement", "exact") == before);
  }

  private static void awaitDistrust(GpuExecutor executor) throws InterruptedException {
    await(
        () -> {
          String reason = executor.statistics().reason();
          return reason != null && reason.startsWith(WRONG);
        });
  }

  private static long questioned(GpuExecutor executor) {
    return executor.statistics().counter("contexts", "questioned");
  }

  public void testGraphsOfADistrustedContextAreNotUsed() throws Exception {
    try (GpuExecutor executor = open(TimeUnit.MILLISECONDS.toNanos(20))) {
      await(() -> executor.statistics().usable());
      // the build, which has begun, waits until the next self-test has failed
      AbortCheck abort =
          () -> {
            lame.lame = "walk_exact_f16";
            try {
              await(() -> executor.statistics().usable() == false);
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
          };
      GraphTask task =
          GraphChecks.task(
              GraphChecks.floats(GraphChecks.clustered(random(), LEAST_GRAPH, 6, 8)),
              VectorSimilarityFunction.EUCLIDEAN,
              new BuildParameters(8, 24, 1.2f, random().nextLong()),
              null,
              Workers.callingThread(),
              abort);
      assertNull(executor.graphs().build(task));
      assertEquals(0, executor.statistics().counter("graphs", "graphs"));
      assertEquals(1, executor.statistics().counter("graphs_on_cpu", "failed"));
    }
  }

  /** Makes the device answer wrong, and waits until that is known. */
  private void loseTrust(GpuExecutor executor) {
    lame.lame = "walk_exact_f16";
    try {
      await(() -> executor.statistics().usable() == false);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Waits for a context: the last one has gone, so that nothing stays in it. */
  private void awaitAnother(GpuExecutor executor) throws InterruptedException {
    lame.lame = "none";
    await(() -> executor.statistics().usable());
  }

  private static float[][] rows() {
    return GraphChecks.clustered(random(), SIZE, DIMENSION, 8).toArray(float[][]::new);
  }

  public void testCodesOfADistrustedContextAreNotUsed() throws Exception {
    float[][] rows = rows();
    SubspaceLayout layout = new SubspaceLayout(DIMENSION, DIMENSION / 8);
    Workers workers = Workers.callingThread();
    try (GpuExecutor executor = open(TimeUnit.MILLISECONDS.toNanos(20))) {
      await(() -> executor.statistics().usable());
      PqEngine engine = executor.quantizer();
      AtomicBoolean begun = new AtomicBoolean();
      AbortCheck abort =
          () -> {
            if (begun.getAndSet(false)) {
              loseTrust(executor);
            }
          };
      TrainingSample sample = TrainingSample.of(DIMENSION, rows);
      PqTrainer.Options once = new PqTrainer.Options(random().nextLong(), 1, 1, 0);
      begun.set(true);
      assertNull(engine.train(sample, layout, once, workers, abort));
      assertEquals(1, executor.statistics().counter("training_on_cpu", "failed"));
      awaitAnother(executor);
      Codebook codebook =
          PqTrainer.train(sample, layout, CodebookId.random(), once, AbortCheck.NEVER);
      byte[] codes = new byte[SIZE * layout.count()];
      try (PqEngine.Encoder encoder = engine.encoder(codebook, SIZE, workers, abort)) {
        begun.set(true);
        assertFalse(encoder.encode(RowSource.of(rows), SIZE, codes));
        awaitAnother(executor);
        assertFalse(encoder.encode(RowSource.of(rows), SIZE, codes));
      }
      float[][] centroids = Arrays.copyOf(rows, 20);
      try (PqEngine.Assigner assigner = engine.assigner(centroids, SIZE, workers, abort)) {
        // between two calls
        loseTrust(executor);
        assertFalse(assigner.assign(RowSource.of(rows), SIZE, new int[SIZE], new float[SIZE]));
        awaitAnother(executor);
      }
      assertEquals(3, executor.statistics().counter("training_on_cpu", "failed"));
      assertEquals(0, executor.statistics().counter("training", "codebooks"));
      assertEquals(0, executor.statistics().counter("training", "vectors_encoded"));
      assertEquals(0, executor.statistics().counter("training", "vectors_assigned"));
    }
  }

  /** The CPU takes over the rows of an existing graph before the context is entered. */
  public void testRowsAreTakenOverOutsideTheContext() throws Exception {
    KnnVectorValues vectors =
        GraphChecks.floats(GraphChecks.clustered(random(), LEAST_GRAPH, 6, 8));
    BuildParameters parameters = new BuildParameters(8, 24, 1.2f, random().nextLong());
    GpuExecutor executor = open(TimeUnit.HOURS.toNanos(1));
    try {
      await(() -> executor.statistics().usable());
      AtomicBoolean closed = new AtomicBoolean();
      AbortCheck abort =
          () -> {
            if (closed.getAndSet(true) == false) {
              // waits for the threads in the context
              executor.close();
            }
          };
      GraphTask first =
          GraphChecks.task(
              vectors,
              VectorSimilarityFunction.EUCLIDEAN,
              parameters,
              null,
              Workers.callingThread(),
              AbortCheck.NEVER);
      try (VamanaGraph graph = executor.graphs().build(first)) {
        int[] same = IntStream.range(0, LEAST_GRAPH).toArray();
        GraphTask second =
            GraphChecks.task(
                vectors,
                VectorSimilarityFunction.EUCLIDEAN,
                parameters,
                new ExistingGraph(graph.rows(), first.medoid(), parameters.passes(), same),
                Workers.callingThread(),
                abort);
        assertNull(executor.graphs().build(second));
      }
      assertTrue(closed.get());
    } finally {
      executor.close();
    }
  }

  /** The CPU makes the nodes of a graph reachable when its context has gone already. */
  public void testGraphsAreFinishedOutsideTheContext() throws Exception {
    GpuExecutor executor = open(TimeUnit.HOURS.toNanos(1));
    try {
      await(() -> executor.statistics().usable());
      // the device takes no node to be reachable
      lame.lame = "build_reach";
      AtomicBoolean closed = new AtomicBoolean();
      AbortCheck abort =
          () -> {
            if (lame.skipped && onDevice() == false && closed.getAndSet(true) == false) {
              // waits for the threads in the context
              executor.close();
            }
          };
      GraphTask task =
          GraphChecks.task(
              GraphChecks.floats(GraphChecks.clustered(random(), LEAST_GRAPH, 6, 8)),
              VectorSimilarityFunction.EUCLIDEAN,
              new BuildParameters(8, 24, 1.2f, random().nextLong()),
              null,
              Workers.callingThread(),
              abort);
      try (VamanaGraph graph = executor.graphs().build(task)) {
        assertTrue(closed.get());
        assertEquals(LEAST_GRAPH, graph.rows().size());
      }
      assertEquals(1, executor.statistics().counter("graphs", "graphs"));
    } finally {
      executor.close();
    }
  }

  /** Whether the calling thread is in the device's part of a build. */
  private static boolean onDevice() {
    return StackWalker.getInstance()
        .walk(frames -> frames.anyMatch(each -> each.getClassName().endsWith(".DeviceBuild")));
  }

  public void testFromTheBeginning() throws Exception {
    lame.lame = "walk_exact_f16";
    try (TestIndex index = TestIndex.any(300, 1);
        GpuExecutor executor = open(TimeUnit.HOURS.toNanos(1))) {
      List<WorkItem> items = index.items(10, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      SegmentView view = index.views().get(0);
      executor.opened(view);
      // an attempt to open another context may be under way
      awaitDistrust(executor);
      String reason = executor.statistics().reason();
      assertTrue(reason, reason.startsWith(WRONG + "search of a graph in exact-float16 ("));
      assertFalse(executor.statistics().usable());
      assertEquals(DevicePresence.WRONG_ANSWERS, executor.presence(view));
      assertSame(expected, executor.search(items), 1);
      assertSame(expected, executor.search(items), 1);
      GpuStatistics statistics = executor.statistics();
      assertEquals(20, statistics.counter("items_on_cpu", "wrong_answer"));
      assertEquals(0, statistics.counter("items_on_cpu", "no_device"));
      assertTrue(statistics.counter("contexts", "wrong_answers") > 0);
      assertEquals(List.of(FallbackReason.WRONG_ANSWER), told.reasons);
      // told by another thread than the one that counts
      await(() -> told.losses.isEmpty() == false);
      assertEquals(told.losses.toString(), 1, told.losses.size());
      lame.lame = "none";
      awaitDevice(executor, items, expected);
      await(() -> told.recoveries.isEmpty() == false);
      assertEquals(1, told.recoveries.size());
      assertNull(executor.statistics().reason());
      executor.closing(view);
    }
  }

  public void testLater() throws Exception {
    try (TestIndex index = TestIndex.any(300, 1);
        GpuExecutor executor = open(TimeUnit.MILLISECONDS.toNanos(20))) {
      List<WorkItem> items = index.items(10, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      SegmentView view = index.views().get(0);
      executor.opened(view);
      awaitDevice(executor, items, expected);
      lame.lame = "exact_few";
      awaitDistrust(executor);
      assertSame(expected, executor.search(items), 1);
      assertTrue(executor.statistics().counter("items_on_cpu", "wrong_answer") > 0);
      lame.lame = "none";
      awaitDevice(executor, items, expected);
      executor.closing(view);
    }
  }

  /** The CPU scores hits of live traffic again: nothing else looks at the device here. */
  public void testAnswersOfSearches() throws Exception {
    GpuOptions options =
        WALKS
            .withPlan(PlanMode.EXACT)
            .withBatches(BATCHES)
            .withTimes(times -> times.selfTest(TimeUnit.HOURS.toNanos(1)));
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor = open(options)) {
      SegmentView view = index.views().get(0);
      executor.opened(view);
      awaitDevice(executor, List.of(scan(index)), null);
      // what was found before is in memory, and is found again
      lame.lame = "exact_few";
      WorkItem item = scan(index);
      for (int calls = 0; executor.statistics().usable(); calls++) {
        assertTrue(calls + " calls", calls < 3_000);
        item = scan(index);
        executor.search(List.of(item));
      }
      String reason = executor.statistics().reason();
      assertTrue(reason, reason.startsWith(WRONG + "score "));
      assertSame(onCpu(List.of(item)), executor.search(List.of(item)), 1);
      assertEquals(1, questioned(executor));
      assertTrue(executor.statistics().counter("contexts", "wrong_answers") > 0);
      executor.closing(view);
    }
  }

  private static WorkItem scan(TestIndex index) throws Exception {
    SegmentView view = index.views().get(0);
    return Walks.item(view, index.vector(), 5, WalkParameters.exact(20));
  }

  /** The CPU encodes and assigns some vectors again before they are written. */
  public void testCodesThatTheDeviceComputes() throws Exception {
    float[][] rows = rows();
    SubspaceLayout layout = new SubspaceLayout(DIMENSION, DIMENSION / 8);
    Workers workers = Workers.callingThread();
    TrainingSample sample = TrainingSample.of(DIMENSION, rows);
    PqTrainer.Options once = new PqTrainer.Options(random().nextLong(), 1, 1, 0);
    Codebook codebook =
        PqTrainer.train(sample, layout, CodebookId.random(), once, AbortCheck.NEVER);
    byte[] codes = new byte[SIZE * layout.count()];
    float[][] centroids = Arrays.copyOf(rows, 20);
    try (GpuExecutor executor = open(TimeUnit.HOURS.toNanos(1))) {
      PqEngine engine = executor.quantizer();
      AbortCheck abort = AbortCheck.NEVER;
      try (PqEngine.Encoder encoder = engine.encoder(codebook, SIZE, workers, abort)) {
        assertTrue(encoder.encode(RowSource.of(rows), SIZE, codes));
        lame.lame = "kmeans_assign";
        // the codes of the other order are in memory
        assertFalse(encoder.encode(RowSource.of(reversed(rows)), SIZE, codes));
      }
      awaitAnother(executor);
      try (PqEngine.Assigner assigner = engine.assigner(centroids, SIZE, workers, abort)) {
        lame.lame = "kmeans_assign";
        assertFalse(assigner.assign(RowSource.of(rows), SIZE, new int[SIZE], new float[SIZE]));
      }
      awaitAnother(executor);
      assertEquals(2, executor.statistics().counter("contexts", "wrong_answers"));
      assertEquals(2, executor.statistics().counter("training_on_cpu", "failed"));
    }
  }

  private static float[][] reversed(float[][] rows) {
    float[][] reversed = new float[rows.length][];
    Arrays.setAll(reversed, i -> rows[rows.length - 1 - i]);
    return reversed;
  }

  /** A failure that leaves the context usable is followed by a self-test. */
  public void testAfterAFailure() throws Exception {
    FaultyDriver driver = new FaultyDriver(driver());
    try (TestIndex index = TestIndex.any(300, 1);
        GpuExecutor executor = open(() -> driver, options(TimeUnit.HOURS.toNanos(1)), told)) {
      List<WorkItem> items = index.items(10, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      SegmentView view = index.views().get(0);
      executor.opened(view);
      awaitDevice(executor, items, expected);
      assertEquals(1, questioned(executor));
      driver.fail(FaultyDriver.Operation.LAUNCH, 1, GpuException.Kind.FAILED);
      assertSame(expected, executor.search(items), 0.98);
      await(() -> questioned(executor) == 2);
      assertSame(expected, executor.search(items), 0.98);
      assertEquals(0, executor.statistics().counter("contexts", "lost"));
      executor.closing(view);
    }
  }
}
