package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Tests what float vectors of integers from 0 to 255 get where the choice of a placement is free:
 * byte copies that are the vectors themselves, and the answers of walks on the floats.
 */
public class WholeVectorTests extends PlanTestCase {

  private static final int K = 10;

  /** So many vectors that a walk with a beam of K costs less than a scan. */
  private static final int LARGE = 2500;

  private final Random random = new Random(random().nextLong());
  private final int dimension = 1 + random.nextInt(random.nextBoolean() ? 150 : 400);

  private float[] whole() {
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      vector[d] = random.nextInt(256);
    }
    // a vector of zeros has no cosine
    vector[0] = Math.max(1, vector[0]);
    return vector;
  }

  private List<QueryVector> base() {
    return base(600 + random.nextInt(600));
  }

  private List<QueryVector> base(int size) {
    List<QueryVector> base = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      base.add(QueryVector.of(whole()));
    }
    return base;
  }

  private DeviceSegment segment(List<QueryVector> base, VectorSimilarityFunction similarity)
      throws IOException {
    return DeviceSegment.of(
        createTempDir(),
        base,
        similarity,
        VamanaParameters.DEFAULT.withGraph(24, 48, 1.2f).withThresholds(0, 0),
        Workers.callingThread());
  }

  private List<WorkItem> items(SegmentView view, boolean fractions) {
    return items(view, fractions, 20 + random.nextInt(30));
  }

  private List<WorkItem> items(SegmentView view, boolean fractions, int beam) {
    WalkParameters walk = WalkParameters.exact(beam).withParents(1 + random.nextInt(4));
    List<WorkItem> items = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      float[] query = whole();
      if (fractions) {
        query[random.nextInt(dimension)] += 0.5f;
      }
      items.add(Walks.item(view, QueryVector.of(query), K, walk));
    }
    return items;
  }

  private static List<WorkResult> search(
      Placement placement, SegmentView view, List<WorkItem> items, String expected)
      throws Exception {
    try (SimulatedDriver driver = driver();
        GpuExecutor executor =
            GpuExecutor.open(
                () -> driver,
                ResidencyOptions.defaults(DEVICE_BYTES)
                    .withPlacement(placement)
                    .withLimits(MemoryLimit.percent(90), MemoryLimit.bytes(0)),
                QUIET.withPlan(PlanMode.GRAPH).withBatches(BATCHES),
                new QuietListener())) {
      executor.warm(view);
      await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
      assertEquals(expected, executor.presence(view).placement());
      List<WorkResult> found = executor.search(items);
      executor.closing(view);
      return found;
    }
  }

  /** Queries of integers walk as on floats; others are re-ranked. */
  public void testAnswersAreThoseOfTheFloats() throws Exception {
    try (DeviceSegment segment = segment(base(), VectorSimilarityFunction.EUCLIDEAN)) {
      SegmentView view = segment.view();
      for (boolean fractions : new boolean[] {false, true}) {
        List<WorkItem> items = items(view, fractions);
        List<WorkResult> exact = search(Placement.EXACT, view, items, "exact");
        List<WorkResult> copies = search(null, view, items, "exact-int8");
        // a query of fractions may be rounded during the walk
        assertSame(exact, copies, fractions ? 0.95 : 1);
        for (int i = 0; i < items.size() && fractions == false; i++) {
          // several warps may count a node twice
          assertEquals(exact.get(i).visited(), copies.get(i).visited(), 5);
        }
      }
    }
  }

  /**
   * The CPU knows the same distances to a single query of integers, so it answers where that costs
   * less. Other queries, and several at once, walk on the copies.
   */
  public void testTheCpuAnswersWhatItAnswersAlike() throws Exception {
    GpuOptions options = options(PlanMode.AUTO, costs(1e9, 1e9, 20, 10));
    try (DeviceSegment segment = segment(base(LARGE), VectorSimilarityFunction.EUCLIDEAN)) {
      SegmentView view = segment.view();
      for (boolean fractions : new boolean[] {false, true}) {
        List<WorkItem> items = items(view, fractions, K);
        try (SimulatedDriver driver = driver();
            GpuExecutor executor =
                GpuExecutor.open(
                    () -> driver,
                    ResidencyOptions.defaults(DEVICE_BYTES)
                        .withLimits(MemoryLimit.percent(90), MemoryLimit.bytes(0)),
                    options,
                    new QuietListener())) {
          executor.warm(view);
          await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
          assertEquals("exact-int8", executor.presence(view).placement());
          List<WorkResult> alone = new ArrayList<>();
          for (WorkItem item : items) {
            alone.addAll(executor.search(List.of(item)));
          }
          assertEquals(
              fractions ? 0 : items.size(), executor.statistics().counter("plan_items", "cpu"));
          assertSame(executor.search(items), alone, fractions ? 1 : 0.97);
          assertEquals(
              (fractions ? 2L : 1L) * items.size(),
              executor.statistics().counter("items_by_placement", "exact-int8"));
          executor.closing(view);
        }
      }
    }
  }
}
