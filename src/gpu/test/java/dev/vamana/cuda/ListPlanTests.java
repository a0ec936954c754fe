package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.util.FixedBitSet;

/**
 * Tests when segments with inverted lists are answered exactly, and that these answers are what a
 * scan finds, whoever gives them.
 */
public class ListPlanTests extends PlanTestCase {

  private static final int SIZE = 1200;
  private static final int K = 5;

  /** A scan costs less than a search of lists, and the CPU more than both. */
  private static final CostModel SCANS = costs(10, 8, 45, 1e9);

  /** The same for the scans of several segments. */
  private static final CostModel SCANS_OF_MANY = costs(1, 1, 45, 1e9);

  /** The other way around. */
  private static final CostModel LISTS = costs(45, 45, 10, 1e9);

  private static GpuExecutor open(PlanMode mode, CostModel costs, TestIndex index)
      throws Exception {
    CudaDriver driver = device();
    return open(options(mode, atScale(costs, driver)), () -> driver, Placement.EXACT, index);
  }

  /** Opens an executor, and waits until the segments are on the device. */
  private static GpuExecutor open(
      GpuOptions options, Supplier<CudaDriver> drivers, Placement placement, TestIndex index)
      throws Exception {
    ResidencyOptions residency =
        ResidencyOptions.defaults(1L << 30)
            .withPlacement(placement)
            .withLimits(MemoryLimit.percent(60), MemoryLimit.percent(60))
            .withTimes(Duration.ZERO, Duration.ZERO);
    GpuExecutor executor = GpuExecutor.open(drivers, residency, options, new QuietListener());
    for (SegmentView view : index.views()) {
      executor.opened(view);
      await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
    }
    return executor;
  }

  private static void close(GpuExecutor executor, TestIndex index) throws IOException {
    index.views().forEach(executor::closing);
  }

  private static List<WorkItem> items(TestIndex index, int count, FixedBitSet accepted)
      throws IOException {
    SegmentView view = index.views().get(0);
    List<WorkItem> items = new ArrayList<>();
    while (items.size() < count) {
      items.add(item(index, view, K, accepted));
    }
    return items;
  }

  /** Answers single queries, which the plan has to answer, all of them. */
  private static List<WorkResult> ask(GpuExecutor executor, String plan, List<WorkItem> items)
      throws IOException {
    Map<String, Long> before = new TreeMap<>(plans(executor));
    List<WorkResult> results = new ArrayList<>();
    for (WorkItem item : items) {
      results.addAll(executor.search(List.of(item)));
    }
    Map<String, Long> after = new TreeMap<>(plans(executor));
    before.forEach((name, count) -> after.merge(name, -count, Long::sum));
    after.values().removeIf(count -> count == 0);
    assertEquals(Map.of(plan, (long) items.size()), after);
    return results;
  }

  private static Map<String, Long> plans(GpuExecutor executor) {
    return executor.statistics().counters().get("plan_items");
  }

  public void testExactIfThatIsFaster() throws Exception {
    try (TestIndex index = TestIndex.ofLists(SIZE, 1);
        GpuExecutor scans = open(PlanMode.AUTO, SCANS, index);
        GpuExecutor lists = open(PlanMode.AUTO, LISTS, index)) {
      List<WorkItem> items = items(index, 20, null);
      assertSame(scanned(items), ask(scans, "scan", items), 0.99);
      // all of one request
      assertSame(scanned(items), scans.search(items), 0.99);
      ListParityTests.compare("lists", items, ask(lists, "lists", items));
      close(scans, index);
      close(lists, index);
    }
  }

  /** As shipped: a scan of a small segment takes less time than a search of its lists. */
  public void testShippedCosts() throws Exception {
    try (TestIndex index = TestIndex.ofLists(4 * SIZE, 1);
        GpuExecutor executor = open(PlanMode.AUTO, CostModel.shipped(), index)) {
      List<WorkItem> items = items(index, 20, null);
      assertSame(scanned(items), ask(executor, "scan", items), 0.99);
      close(executor, index);
    }
  }

  /** Where the device has no raw vectors, lists are searched, whatever a scan would cost. */
  public void testVectorsInTheFile() throws Exception {
    CudaDriver driver = device();
    try (TestIndex index = TestIndex.ofLists(SIZE, 1);
        GpuExecutor executor =
            open(
                options(PlanMode.AUTO, atScale(costs(0, 0, 45, 1e9), driver)),
                () -> driver,
                Placement.IN_MEMORY,
                index)) {
      SegmentView view = index.views().get(0);
      boolean rows = executor.statistics().counter("residency", "device_bytes") >= rawBytes(view);
      ask(executor, rows ? "scan" : "lists", items(index, 10, null));
      close(executor, index);
    }
  }

  private static long rawBytes(SegmentView view) {
    return (long) view.size() * view.dimension() * Float.BYTES;
  }

  /** Scans of segments take turns, and lists of all of them are searched together. */
  public void testManySegments() throws Exception {
    try (TestIndex index = TestIndex.ofLists(4 * 500, 4);
        GpuExecutor executor = open(PlanMode.AUTO, costs(10, 10, 50, 1e9), index)) {
      // eight callers wait 80, and 62.5 with a quarter more than for lists
      List<WorkItem> items = items(index, 5, null);
      ask(executor, "lists", items);
      executor.closing(index.views().get(3));
      // 60 and 62.5
      assertSame(scanned(items), ask(executor, "scan", items), 0.99);
      close(executor, index);
    }
  }

  /** A filter that accepts many is part of a scan, or of a search of lists. */
  public void testFilters() throws Exception {
    try (TestIndex index = TestIndex.ofLists(SIZE, 1);
        GpuExecutor scans = open(PlanMode.AUTO, costs(10, 45, 45, 1e9), index);
        GpuExecutor lists = open(PlanMode.AUTO, LISTS, index)) {
      List<WorkItem> items = items(index, 10, some(SIZE, SIZE * 9 / 10));
      assertEquals(CpuExecutor.ListPlan.ESTIMATED, CpuExecutor.listPlan(items.get(0)));
      assertSame(scanned(items), ask(scans, "scan", items), 0.99);
      ListParityTests.compare("lists", items, ask(lists, "lists", items));
      close(scans, index);
      close(lists, index);
    }
  }

  /** If the device fails in an exact search, the CPU answers exactly, too. */
  public void testFailures() throws Exception {
    try (TestIndex index = TestIndex.ofLists(SIZE, 1)) {
      FaultyDriver driver = new FaultyDriver(device());
      try (GpuExecutor executor =
          open(
              options(PlanMode.AUTO, atScale(SCANS, driver)),
              () -> driver,
              Placement.EXACT,
              index)) {
        List<WorkItem> items = items(index, 20, null);
        List<WorkResult> expected = scanned(items);
        boolean full = random().nextBoolean();
        driver.fail(
            full ? FaultyDriver.Operation.ALLOCATE : FaultyDriver.Operation.LAUNCH,
            1,
            full ? GpuException.Kind.OUT_OF_MEMORY : GpuException.Kind.FAILED);
        assertSame(expected, executor.search(items), 0.99);
        assertEquals(items.size(), onCpu(executor, full ? "out_of_memory" : "launch_failed"));
        assertSame(expected, ask(executor, "scan", items), 0.99);
        close(executor, index);
      }
    }
  }

  /** Before a segment comes to the device, the CPU searches its lists as on any node. */
  public void testAbsentSegments() throws Exception {
    try (TestIndex index = TestIndex.ofLists(SIZE, 1);
        GpuExecutor executor = open(PlanMode.AUTO, SCANS, index)) {
      close(executor, index);
      List<WorkItem> items = items(index, 10, null);
      assertSame(onCpu(items), ask(executor, "cpu", items), 1);
      assertEquals(items.size(), onCpu(executor, "not_resident"));
    }
  }

  /** Lucene's query over several segments, whose searches are sent ahead. */
  public void testSegmentsAhead() throws Exception {
    int segments = 3;
    CudaDriver driver = device();
    boolean exact = random().nextBoolean();
    GpuOptions options =
        QUIET
            .withBatches(BATCHES.withSegmentsAhead(true))
            .withPlans(
                options(PlanMode.AUTO, atScale(exact ? SCANS_OF_MANY : LISTS, driver)).plans());
    try (TestIndex index = TestIndex.ofLists(segments * 500, segments);
        GpuExecutor executor = open(options, () -> driver, Placement.EXACT, index);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installation.executor());
      IndexSearcher searcher = new IndexSearcher(index.reader);
      for (int query = 0; query < 10; query++) {
        float[] vector = index.vector().floats();
        TopDocs found = searcher.search(new KnnFloatVectorQuery(FIELD, vector, K), K);
        assertEquals(K, found.scoreDocs.length);
        if (exact) {
          List<Float> best = new ArrayList<>();
          for (SegmentView view : index.views()) {
            WorkItem item = item(QueryVector.of(vector), view, K, null, () -> false);
            for (float score : CpuExecutor.scan(item).scores()) {
              best.add(score);
            }
          }
          best.sort(Collections.reverseOrder());
          for (int rank = 0; rank < K; rank++) {
            float score = best.get(rank);
            assertEquals(score, found.scoreDocs[rank].score, 1e-4f * Math.max(1, Math.abs(score)));
          }
        }
      }
      assertEquals(10L * segments, items(executor, exact ? "scan" : "lists"));
      assertTrue(executor.statistics().counter("segments_ahead", "used") > 0);
      close(executor, index);
    }
  }
}
