package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.FixedBitSet;

/**
 * The same request has the same answer whatever else the node does. Costs are drawn so that load
 * decides between the CPU and the device, and so that exact searches and walks cost about the same.
 * Beams are so narrow that a walk misses some of the hits of a scan.
 */
public class LoadTests extends PlanTestCase {

  private static final int CALLERS = 64;
  private static final int ROUNDS = 3;
  private static final int REQUESTS = 24;
  private static final int K = 8;
  private static final double MOST_NANOS = 1e5;

  /** Ranks that are the same; walks on codes may meet neighbours in another order. */
  private static final double SHARE = 0.97;

  // queries of a request that is compared rank by rank
  private static final int MANY = 8;

  /** A request: all its items in one call. */
  private record Request(List<WorkItem> items) {}

  /** A model that charges calls, queries and bytes at random. */
  private static CostModel anyCosts() {
    CostModel model = free();
    for (CostForm form : CostForm.values()) {
      double[] coefficients = form.none();
      for (int i = 0; i < coefficients.length; i++) {
        // later terms are multiplied by the larger quantities
        coefficients[i] = random().nextDouble() * MOST_NANOS / Math.pow(100, i);
      }
      model = model.with(form, coefficients);
    }
    return model;
  }

  /** Single queries and small batches, some with a filter. */
  private static List<Request> requests(TestIndex index) throws IOException {
    List<SegmentView> views = index.views();
    List<Request> requests = new ArrayList<>();
    while (requests.size() < REQUESTS) {
      SegmentView view = views.get(random().nextInt(views.size()));
      FixedBitSet accepted =
          random().nextInt(3) > 0 ? null : some(view.size(), 1 + random().nextInt(view.size()));
      int queries = random().nextInt(4) > 0 ? 1 : 2 + random().nextInt(20);
      WalkParameters walk = WalkParameters.exact(K).withParents(1 + random().nextInt(4));
      List<WorkItem> items = new ArrayList<>();
      for (int q = 0; q < queries; q++) {
        items.add(Walks.item(view, index.vector(), K, walk, accepted));
      }
      requests.add(new Request(items));
    }
    return requests;
  }

  private static void assertAlike(GpuExecutor executor, List<Request> requests) throws Exception {
    List<List<WorkResult>> alone = new ArrayList<>();
    for (Request request : requests) {
      alone.add(executor.search(request.items()));
    }
    List<List<WorkResult>> among = new ArrayList<>(alone);
    AtomicInteger next = new AtomicInteger();
    Threads.run(
        CALLERS,
        thread -> {
          int number;
          while ((number = next.getAndIncrement()) < ROUNDS * requests.size()) {
            int index = number % requests.size();
            List<WorkResult> found = executor.search(requests.get(index).items());
            synchronized (among) {
              among.set(index, found);
            }
          }
        });
    for (int i = 0; i < alone.size(); i++) {
      if (alone.get(i).size() < MANY) {
        assertMostHits(alone.get(i), among.get(i));
      } else {
        assertSame(alone.get(i), among.get(i), SHARE);
      }
    }
    assertSame(
        alone.stream().flatMap(List::stream).toList(),
        among.stream().flatMap(List::stream).toList(),
        SHARE);
  }

  /**
   * At least half of the hits are the same. Ranks say too little of a few queries: a walk that
   * finds one more neighbour moves all hits behind it.
   */
  private static void assertMostHits(List<WorkResult> expected, List<WorkResult> actual) {
    int hits = 0;
    int same = 0;
    for (int i = 0; i < expected.size(); i++) {
      Set<Integer> found = new HashSet<>();
      Arrays.stream(actual.get(i).ordinals()).forEach(found::add);
      hits += expected.get(i).ordinals().length;
      same += (int) Arrays.stream(expected.get(i).ordinals()).filter(found::contains).count();
    }
    assertTrue(same + " of " + hits + " hits are the same", 2 * same >= hits);
  }

  private void testPlacement(Placement placement) throws Exception {
    testPlacement(placement, 24);
  }

  private void testPlacement(Placement placement, int dimension) throws Exception {
    try (TestIndex index =
        new TestIndex(
            VectorEncoding.FLOAT32,
            VectorSimilarityFunction.EUCLIDEAN,
            dimension,
            1500,
            2,
            new MMapDirectory(createTempDir()))) {
      testPlacement(placement, index);
    }
  }

  private void testPlacement(Placement placement, TestIndex index) throws Exception {
    testPlacement(placement, index, anyCosts());
  }

  private void testPlacement(Placement placement, TestIndex index, CostModel costs)
      throws Exception {
    assumeTrue("needs kernels of the host", kernels != null);
    try (SimulatedDriver driver = new SimulatedDriver(kernels, DEVICE_BYTES, true)) {
      ResidencyOptions residency =
          ResidencyOptions.defaults(1L << 30)
              .withPlacement(placement)
              .withLimits(MemoryLimit.percent(60), MemoryLimit.percent(60))
              .withTimes(Duration.ZERO, Duration.ZERO);
      PlanOptions plans = new PlanOptions(PlanMode.AUTO, atScale(costs, driver));
      GpuOptions options = QUIET.withBatches(BATCHES).withPlans(plans);
      try (GpuExecutor executor =
          GpuExecutor.open(() -> driver, residency, options, new QuietListener())) {
        List<Request> requests = requests(index);
        for (SegmentView view : index.views()) {
          executor.warm(view);
          await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
        }
        assertAlike(executor, requests);
        index.views().forEach(executor::closing);
      }
    }
  }

  public void testExact() throws Exception {
    testPlacement(Placement.EXACT);
  }

  /** Searches of lists miss some of the hits of a scan, too. */
  public void testLists() throws Exception {
    // single queries, filters or batches are answered exactly, as drawn; others miss a tenth
    double lists = random().nextDouble() * MOST_NANOS;
    double query = random().nextDouble() * MOST_NANOS;
    double scan = random().nextDouble() * MOST_NANOS;
    CostModel costs =
        anyCosts()
            .with(CostForm.SCAN, scan, 0, 0, 0, 0, 0)
            .with(CostForm.BATCHED_SCAN, scan, 0, 0, 0, 0, 0, 0)
            .with(CostForm.LISTS, lists, 0, 0, 0, query);
    try (TestIndex index = TestIndex.ofLists(6000, 2, 64)) {
      testPlacement(random().nextInt(4) == 0 ? Placement.IN_MEMORY : Placement.EXACT, index, costs);
    }
  }

  /** Of the planner's choice, which is one for each segment. */
  public void testWideVectors() throws Exception {
    testPlacement(null, Placement.WIDE);
  }

  public void testFloat16() throws Exception {
    testPlacement(Placement.EXACT_FLOAT16);
  }

  public void testInt8() throws Exception {
    testPlacement(Placement.EXACT_INT8);
  }

  public void testInMemory() throws Exception {
    testPlacement(Placement.IN_MEMORY);
  }

  public void testMappedGraph() throws Exception {
    testPlacement(Placement.MAPPED_GRAPH);
  }

  public void testHostFetch() throws Exception {
    testPlacement(Placement.HOST_FETCH);
  }
}
