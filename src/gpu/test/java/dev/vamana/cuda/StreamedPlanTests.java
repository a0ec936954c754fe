package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.call.Workloads;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.cuda.lane.Lease;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.memory.ResidentBits;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests exact searches of vectors that are streamed to the device. */
public class StreamedPlanTests extends PlanTestCase {

  private static Directory mapped() throws IOException {
    return new MMapDirectory(createTempDir());
  }

  private static GpuExecutor open(GpuOptions options) {
    CudaDriver driver = device();
    return openWithout(options, () -> driver, new QuietListener());
  }

  /** With and without filters, of segments that are not on the device. */
  public void testSegmentsThatAreNotOnTheDevice() throws IOException {
    try (TestIndex index = TestIndex.any(1500, 3, mapped());
        GpuExecutor executor = open(pinned(PlanMode.EXACT))) {
      long asked = 0;
      for (int count : new int[] {1, 3, 40, 300}) {
        List<WorkItem> items = index.items(count, WalkParameters.Distances.EXACT);
        assertSame(scanned(items), executor.search(items), 0.995);
        asked += count;
      }
      assertEquals(asked, items(executor, "scan") + items(executor, "gather"));
      assertEquals(asked, executor.statistics().counter("items_by_placement", "none"));
      assertEquals(asked, executor.statistics().counter("items", "requested"));
    }
  }

  public void testFewOrManyAccepted() throws IOException {
    try (TestIndex index = TestIndex.any(900, 1, mapped());
        GpuExecutor gathers = open(options(PlanMode.EXACT, costs(1, 0, 0, 0)));
        GpuExecutor scans = open(options(PlanMode.EXACT, costs(0, 1, 0, 0)))) {
      SegmentView view = index.views().get(0);
      for (int accepted : new int[] {0, 1, 40, 899}) {
        List<WorkItem> items = new ArrayList<>();
        for (int k : new int[] {1, 10, 60}) {
          items.add(item(index, view, k, some(900, accepted)));
        }
        List<WorkResult> expected = scanned(items);
        assertSame(expected, gathers.search(items), 0.99);
        assertSame(expected, scans.search(items), 0.99);
      }
      assertEquals(12, items(gathers, "gather"));
      assertEquals(12, items(scans, "scan"));
    }
  }

  /** The device has graph and codes, and no exact vectors. */
  public void testSegmentsWithoutExactVectorsOnTheDevice() throws IOException {
    CudaDriver driver = device();
    try (TestIndex index = TestIndex.any(1200, 2, mapped());
        GpuExecutor executor =
            openAtOnce(
                pinned(PlanMode.EXACT),
                () -> driver,
                everything(Placement.HOST_FETCH),
                new QuietListener())) {
      List<WorkItem> items = index.items(100, WalkParameters.Distances.QUANTIZED);
      assertSame(scanned(items), executor.search(items), 0.995);
      assertEquals(100, items(executor, "scan") + items(executor, "gather"));
      assertEquals(100, executor.statistics().counter("items_by_placement", "host-fetch"));
    }
  }

  /** Files that are not mapped are the CPU's, and so is a pinned walk of an absent segment. */
  public void testWhatIsNotStreamed() throws IOException {
    try (TestIndex index = TestIndex.any(1200, 1, new ByteBuffersDirectory());
        GpuExecutor executor = open(pinned(PlanMode.EXACT))) {
      List<WorkItem> items = List.of(item(index, index.views().get(0), 5, null));
      assertSame(GpuTestCase.onCpu(items), executor.search(items), 1);
      assertEquals(1, onCpu(executor, "not_resident"));
      assertEquals(1, items(executor, "cpu"));
    }
    try (TestIndex index = TestIndex.any(1200, 1, mapped());
        GpuExecutor executor = open(pinned(PlanMode.GRAPH))) {
      List<WorkItem> items = List.of(item(index, index.views().get(0), 5, null));
      assertSame(GpuTestCase.onCpu(items), executor.search(items), 1);
      assertEquals(1, onCpu(executor, "not_resident"));
      SegmentView view = index.views().get(0);
      executor.closing(view);
      executor.search(items);
      assertEquals(2, onCpu(executor, "not_resident"));
    }
  }

  /** Streaming pays for many queries: on both sides of where it begins to. */
  public void testTheModelDecides() throws IOException {
    try (TestIndex index = TestIndex.any(1000, 1, mapped())) {
      SegmentView view = index.views().get(0);
      int stride = (index.dimension * view.encoding().byteSize + 15) / 16 * 16;
      // bringing the vectors costs 400, an answer of the CPU 10, which counts twice
      double[] streamed = CostForm.SCAN.none();
      double[] streamedBatched = CostForm.BATCHED_SCAN.none();
      streamed[2] = 400.0 / 5 / (1000.0 * stride);
      streamedBatched[2] = streamed[2];
      CostModel model =
          costs(0, 1e9, 1e9, 10)
              .with(CostForm.SCAN, streamed)
              .with(CostForm.BATCHED_SCAN, streamedBatched);
      CudaDriver driver = device();
      try (GpuExecutor executor =
          openWithout(
              options(PlanMode.AUTO, atScale(model, driver)), () -> driver, new QuietListener())) {
        for (int batch : new int[] {1, 19, 21, 200}) {
          long before = items(executor, "scan");
          List<WorkItem> items = new ArrayList<>();
          for (int i = 0; i < batch; i++) {
            items.add(item(index, view, 5, null));
          }
          List<WorkResult> results = executor.search(items);
          boolean streams = batch > 20;
          assertEquals(streams ? batch : 0, items(executor, "scan") - before);
          assertSame(streams ? scanned(items) : GpuTestCase.onCpu(items), results, 0.97);
        }
        assertEquals(20, onCpu(executor, "not_resident"));
      }
    }
  }

  /** Rows that the device reads over the bus are brought to it for many queries. */
  public void testRegisteredVectors() throws Exception {
    assumeTrue("needs a driver that registers files", kernels != null);
    try (TestIndex index =
            new TestIndex(
                VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, 32, 900, 1, mapped());
        GpuExecutor executor =
            GpuExecutor.open(
                () -> new SimulatedDriver(kernels, DEVICE_BYTES, true),
                ResidencyOptions.defaults(1L << 30).withPlacement(Placement.MAPPED_GRAPH),
                pinned(PlanMode.EXACT),
                new QuietListener())) {
      SegmentView view = index.views().get(0);
      executor.opened(view);
      await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
      for (int batch : new int[] {1, 100}) {
        List<WorkItem> items = new ArrayList<>();
        for (int i = 0; i < batch; i++) {
          items.add(item(index, view, 10, i % 2 == 0 ? null : some(900, 200)));
        }
        assertSame(scanned(items), executor.search(items), 0.995);
      }
      assertEquals(101, items(executor, "scan") + items(executor, "gather"));
      assertEquals(101, executor.statistics().counter("items_by_placement", "mapped-graph"));
    }
  }

  /** A segment whose rows the device reads in the mapped file. */
  private record Registered(SegmentView view) implements ResidentSegment {
    @Override
    public ResidentBits bits() {
      return null;
    }

    @Override
    public Placement placement() {
      return Placement.MAPPED_GRAPH;
    }

    @Override
    public long descriptor() {
      return 0;
    }

    @Override
    public boolean wholeCopies() {
      return false;
    }

    @Override
    public boolean reranksOnDevice() {
      return true;
    }

    @Override
    public ResidentRows rows() {
      return new ResidentRows(4096, 64, false);
    }

    @Override
    public void hold() {}

    @Override
    public void release() {}
  }

  public void testHowRowsAreRead() throws IOException {
    try (TestIndex index = TestIndex.any(300, 1, mapped())) {
      SegmentView view = index.views().get(0);
      WorkItem item = item(index, view, 5, null);
      HeldSegment absent = new HeldSegment(new Lease(view), null);
      assertEquals(Workload.Rows.STREAMED, Workloads.rows(item, absent, 1));
      assertEquals(Workload.Rows.NONE, Workloads.inPlace(item, absent));
      HeldSegment registered = new HeldSegment(new Lease(view), new Registered(view));
      assertEquals(Workload.Rows.HOST, Workloads.rows(item, registered, 1));
      assertEquals(Workload.Rows.STREAMED, Workloads.rows(item, registered, 1000));
      assertEquals(Workload.Rows.HOST, Workloads.inPlace(item, registered));
      assertEquals(
          view.size() * (long) view.dimension() * view.encoding().byteSize,
          Workloads.file(view).byteSize());
    }
  }

  /** Answers stay exact on a device that fails now and then, and closing leaves nothing. */
  public void testFailuresAtRandom() throws Exception {
    boolean threaded = random().nextBoolean();
    Supplier<CudaDriver> drivers = failingAtRandom(() -> device(threaded));
    try (TestIndex index = TestIndex.any(600, 2, mapped());
        GpuExecutor executor =
            openAtLast(
                () ->
                    openWithout(
                        pinned(PlanMode.EXACT)
                            .withTimes(times -> times.retry(1_000_000, 8_000_000)),
                        drivers,
                        new QuietListener()))) {
      List<WorkItem> items = new ArrayList<>();
      for (SegmentView view : index.views()) {
        for (int i = 0; i < 10; i++) {
          // so few that the CPU scans, too
          items.add(item(index, view, 5, some(view.size(), 15)));
        }
      }
      List<WorkResult> expected = scanned(items);
      Threads.run(
          4,
          thread -> {
            for (int round = 0; round < 15; round++) {
              assertSame(expected, executor.search(items), 0.97);
            }
          });
    }
  }

  /** When a segment has been closed nothing reads its file any more. */
  public void testSegmentClosedWhileItIsBrought() throws Exception {
    BlockedKernels blocked = blocked();
    ExecutorService pool = Executors.newFixedThreadPool(2, new NamedThreadFactory("search"));
    try (TestIndex index = TestIndex.any(600, 1, mapped());
        GpuExecutor executor =
            openWithout(
                pinned(PlanMode.EXACT),
                () -> new SimulatedDriver(blocked, DEVICE_BYTES, true),
                new QuietListener())) {
      List<WorkItem> items = List.of(item(index, index.views().get(0), 5, null));
      Future<List<WorkResult>> running = pool.submit(() -> executor.search(items));
      blocked.awaitStart();
      Future<?> closing = pool.submit(() -> executor.closing(items.get(0).segment()));
      Exception ended =
          expectThrows(ExecutionException.class, () -> running.get(2, TimeUnit.MINUTES));
      assertTrue(ended.toString(), ended.getCause() instanceof AlreadyClosedException);
      Thread.sleep(20);
      assertFalse("the file is still read", closing.isDone());
      blocked.letGo();
      closing.get(2, TimeUnit.MINUTES);
      executor.search(items);
      assertEquals(1, onCpu(executor, "not_resident"));
    } finally {
      blocked.letGo();
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }
}
