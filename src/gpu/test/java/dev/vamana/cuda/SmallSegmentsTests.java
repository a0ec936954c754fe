package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests segments of vectors alone, and scans of several segments in one launch. */
public class SmallSegmentsTests extends PlanTestCase {

  private static final int SEGMENTS = 6;
  private static final int SIZE = 200;

  private static GpuExecutor open(PlanMode mode, double scan, double cpu) {
    return open(MemoryLimit.percent(60), options(mode, costs(scan, 1e9, 1e9, cpu)));
  }

  private static GpuExecutor open(MemoryLimit memory, GpuOptions options) {
    CudaDriver driver = device();
    return GpuExecutor.open(
        () -> driver,
        ResidencyOptions.defaults(1L << 30).withLimits(memory, MemoryLimit.percent(60)),
        options,
        new QuietListener());
  }

  private static TestIndex small() throws IOException {
    // bytes of a segment are enough in either encoding
    return TestIndex.withoutGraphs(100 + random().nextInt(60), SEGMENTS * SIZE, SEGMENTS);
  }

  private static void upload(GpuExecutor executor, List<SegmentView> views) throws Exception {
    for (SegmentView view : views) {
      assertFalse(view.isIndexed());
      executor.opened(view);
      await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
    }
  }

  private static List<WorkItem> ofEach(TestIndex index, int queries) throws IOException {
    List<WorkItem> items = new ArrayList<>();
    for (SegmentView view : index.views()) {
      for (int k = 1; k <= queries; k++) {
        items.add(item(index, view, k, random().nextBoolean() ? null : some(SIZE, 50)));
      }
    }
    return items;
  }

  public void testAnswersAreTheCpus() throws Exception {
    try (TestIndex index = small();
        GpuExecutor executor = open(PlanMode.EXACT, 0, 1e9)) {
      upload(executor, index.views());
      List<WorkItem> items = ofEach(index, 5);
      assertSame(scanned(items), executor.search(items), 0.999);
      assertEquals(items.size(), items(executor, "scan"));
      assertEquals(1, executor.statistics().counter("plan_batches", "scan"));
      assertEquals(items.size(), executor.statistics().counter("items_by_placement", "exact"));
      index.views().forEach(executor::closing);
    }
  }

  /** A launch that costs as much as four segments of the CPU is worth it for five. */
  public void testTheDeviceTakesManyScans() throws Exception {
    try (TestIndex index = small();
        GpuExecutor executor = open(PlanMode.AUTO, 9, 1)) {
      List<SegmentView> views = index.views();
      for (int open = 1; open <= views.size(); open++) {
        upload(executor, views.subList(open - 1, open));
        // a nanosecond of the CPU counts as two
        assertEquals(open > 4, executor.leaves(views.get(0), 5, SIZE, true) == null);
        assertNotNull(
            "filters are not known in advance", executor.leaves(views.get(0), 5, 50, true));
        List<WorkItem> items = new ArrayList<>();
        for (SegmentView view : views.subList(0, open)) {
          items.add(item(index, view, 5, null));
        }
        long before = items(executor, "scan");
        assertSame(scanned(items), executor.search(items), 0.999);
        assertEquals(open > 4 ? open : 0, items(executor, "scan") - before);
      }
    }
  }

  /**
   * Segments that are asked for one by one are decided as they are together: by the rule of who
   * answers, once the executor has planned one.
   */
  public void testSegmentsOneByOne() throws Exception {
    // a launch takes as long as 11 segments on the CPU, of which there are 6
    try (TestIndex index = small();
        GpuExecutor executor = open(PlanMode.AUTO, 58, 5)) {
      upload(executor, index.views());
      SegmentView view = index.views().get(0);
      assertNull("nothing is known", executor.leaves(view, 5, SIZE, true));
      List<WorkItem> alone = List.of(item(index, view, 5, null));
      assertSame(scanned(alone), executor.search(alone), 0.999);
      assertEquals(1, onCpu(executor, "scan"));
      assertNull("other hits", executor.leaves(view, 6, SIZE, true));
      SearchExecutor.LeftSearch left = executor.leaves(view, 5, SIZE, true);
      assertNotSame("the route is known", SearchExecutor.NOT_MEASURED, left);
      // null if a window has ended: the executor plans the item again
      if (left != null) {
        left.ended();
      }
      assertSame(scanned(alone), executor.search(alone), 0.999);
      assertEquals(2, onCpu(executor, "scan"));
      assertEquals(2, items(executor, "cpu"));
    }
  }

  /** Tickets of several callers share launches; each has its own segments, k and filter. */
  public void testManyCallers() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8, new NamedThreadFactory("caller"));
    try (TestIndex index = small();
        GpuExecutor executor = open(PlanMode.EXACT, 0, 1e9)) {
      upload(executor, index.views());
      List<List<WorkItem>> calls = new ArrayList<>();
      List<Callable<List<WorkResult>>> searches = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        List<WorkItem> items = ofEach(index, 1 + random().nextInt(4));
        calls.add(items);
        searches.add(() -> executor.search(items));
      }
      List<Future<List<WorkResult>>> found = threads.invokeAll(searches);
      for (int i = 0; i < calls.size(); i++) {
        assertSame(scanned(calls.get(i)), found.get(i).get(), 0.999);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  public void testTooSmall() throws Exception {
    int dimension = 16;
    int size = Residency.LEAST_SCANNED_BYTES / dimension / Float.BYTES - 1;
    try (TestIndex index = TestIndex.withoutGraphs(dimension, size, 1);
        GpuExecutor executor = open(PlanMode.EXACT, 0, 1e9)) {
      SegmentView view = index.views().get(0);
      executor.opened(view);
      assertEquals(DevicePresence.State.REFUSED, executor.presence(view).state());
      assertNotNull(executor.leaves(view, 5, size, true));
      List<WorkItem> items = List.of(item(index, view, 5, null));
      assertSame(scanned(items), executor.search(items), 1);
      assertEquals(1, onCpu(executor, "scan"));
      executor.closing(view);
    }
  }

  /** A segment without a graph takes free memory only. */
  public void testNothingGivesWay() throws Exception {
    try (TestIndex graphs =
            new TestIndex(
                VectorEncoding.FLOAT32,
                VectorSimilarityFunction.EUCLIDEAN,
                64,
                2000,
                1,
                newDirectory());
        TestIndex index = small()) {
      try (GpuExecutor executor = open(MemoryLimit.bytes(660_000), pinned(PlanMode.EXACT))) {
        SegmentView first = graphs.views().get(0);
        executor.opened(first);
        await(() -> executor.presence(first).state() == DevicePresence.State.RESIDENT);
        List<SegmentView> views = index.views();
        views.forEach(executor::opened);
        SegmentView last = views.get(SEGMENTS - 1);
        await(() -> executor.presence(last).state() != DevicePresence.State.WAITING);
        List<WorkItem> items = ofEach(index, 2);
        assertSame(scanned(items), executor.search(items), 0.999);
        assertEquals(DevicePresence.State.RESIDENT, executor.presence(first).state());
        assertEquals(DevicePresence.State.REFUSED, executor.presence(last).state());
      }
    }
  }
}
