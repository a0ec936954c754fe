package dev.vamana.cuda;

import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.MMapDirectory;

/** Items that CPU and device answer alike at the same cost by the model: measurements decide. */
public class ContestTests extends PlanTestCase {

  private static final int K = 5;

  private static TestIndex index() throws IOException {
    return new TestIndex(
        VectorEncoding.FLOAT32,
        VectorSimilarityFunction.EUCLIDEAN,
        16,
        1_200,
        3,
        new MMapDirectory(createTempDir()));
  }

  private static GpuExecutor open(Placement placement, boolean measured) {
    // a walk costs the same on both sides, a scan much more
    PlanOptions plans = new PlanOptions(PlanMode.AUTO, costs(1e9, 1e9, 10, 10));
    GpuOptions options =
        QUIET
            .withBatches(BATCHES.withSegmentsAhead(true))
            .withPlans(measured ? plans : plans.unmeasured());
    SimulatedDriver driver = new SimulatedDriver(kernels, DEVICE_BYTES, random().nextBoolean());
    return GpuDevice.open(
        () -> driver,
        ResidencyOptions.defaults(1L << 30).withPlacement(placement),
        options,
        new QuietListener());
  }

  private static void warm(TestIndex index, GpuExecutor executor) throws Exception {
    for (SegmentView view : index.views()) {
      executor.warm(view);
      await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
    }
  }

  /** A query over all segments, one after the other. */
  private static List<WorkResult> ask(TestIndex index, GpuExecutor executor, QueryVector vector)
      throws IOException {
    List<WorkResult> found = new ArrayList<>();
    for (SegmentView view : index.views()) {
      WorkItem item = item(vector, view, K, null, () -> false);
      found.addAll(executor.search(List.of(item)));
    }
    return found;
  }

  private static List<QueryVector> vectors(TestIndex index) {
    List<QueryVector> vectors = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      vectors.add(index.vector());
    }
    return vectors;
  }

  private static long total(SortedMap<String, Long> group) {
    return group.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Asks until the better side has been found, however long that takes, and beyond. */
  private void testAnswers(Placement placement) throws Exception {
    assumeTrue("needs kernels of the host", kernels != null);
    try (TestIndex index = index();
        GpuExecutor executor = open(placement, true)) {
      warm(index, executor);
      List<QueryVector> vectors = vectors(index);
      List<List<WorkResult>> first = new ArrayList<>();
      for (QueryVector vector : vectors) {
        first.add(ask(index, executor, vector));
      }
      int asked = vectors.size();
      List<List<WorkResult>> last = new ArrayList<>(first);
      do {
        for (int i = 0; i < vectors.size(); i++) {
          last.set(i, ask(index, executor, vectors.get(i)));
        }
        asked += vectors.size();
        assertSame(
            first.stream().flatMap(List::stream).toList(),
            last.stream().flatMap(List::stream).toList(),
            0.97);
      } while (total(executor.statistics().counters().get("contested_loads")) == 0);
      GpuStatistics found = executor.statistics();
      assertTrue(found.counter("items", "requested") >= asked * 3L);
      assertEquals(
          found.counter("items", "requested"),
          total(found.counters().get("items_on_cpu"))
              + total(found.counters().get("items_by_placement")));
      assertEquals(total(found.counters().get("items_on_cpu")), found.counter("plan_items", "cpu"));
    }
  }

  public void testExact() throws Exception {
    testAnswers(Placement.EXACT);
  }

  public void testInMemory() throws Exception {
    testAnswers(Placement.IN_MEMORY);
  }

  /** Copies have answers of their own, so the device gives them whatever is measured. */
  public void testCopiesAreNotContested() throws Exception {
    assumeTrue("needs kernels of the host", kernels != null);
    try (TestIndex index = index();
        GpuExecutor executor = open(Placement.EXACT_FLOAT16, true)) {
      warm(index, executor);
      for (QueryVector vector : vectors(index)) {
        ask(index, executor, vector);
      }
      assertEquals(0, executor.statistics().counter("contested", "watched_micros"));
      assertEquals(0, executor.statistics().counter("plan_items", "cpu"));
    }
  }

  public void testOtherModesAndOptions() throws Exception {
    assumeTrue("needs kernels of the host", kernels != null);
    boolean measured = random().nextBoolean();
    try (TestIndex index = index();
        GpuExecutor executor = open(Placement.EXACT, measured)) {
      warm(index, executor);
      if (measured) {
        executor.adjust(
            new DynamicOptions(
                MemoryLimit.percent(50),
                MemoryLimit.percent(50),
                Placement.only(Placement.EXACT),
                64,
                0,
                true,
                false,
                PlanMode.GRAPH));
      }
      for (QueryVector vector : vectors(index)) {
        ask(index, executor, vector);
      }
      assertEquals(0, executor.statistics().counter("contested", "watched_micros"));
    }
  }
}
