package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Threads;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Tests large calls in a row, which threads help to pack and to read where there are processors for
 * them, with chunks of all sizes.
 */
public class LargeCallTests extends GpuTestCase {

  private final Random random = new Random(random().nextLong());
  private final int dimension = 1 + random.nextInt(300);

  private QueryVector vector() {
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      vector[d] = (float) random.nextGaussian();
    }
    return QueryVector.of(vector);
  }

  private List<QueryVector> vectors(int count) {
    List<QueryVector> vectors = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      vectors.add(vector());
    }
    return vectors;
  }

  /** Items that share their terms, and in one of two calls some that do not. */
  private List<WorkItem> items(SegmentView view, List<QueryVector> queries) {
    List<WorkItem> items = new ArrayList<>();
    WalkParameters walk = WalkParameters.exact(24);
    boolean alike = random.nextBoolean();
    WorkItem first = null;
    for (QueryVector query : queries) {
      if (first != null && (alike || random.nextInt(100) > 0)) {
        items.add(new WorkItem(first.terms(), query));
      } else {
        first =
            new WorkItem(
                view,
                query,
                1 + random.nextInt(20),
                walk,
                null,
                view.size(),
                Long.MAX_VALUE,
                () -> false,
                new int[random.nextInt(2)]);
        items.add(first);
      }
    }
    return items;
  }

  public void testAnswersOfCallsInARow() throws Exception {
    int callers = 1 + random.nextInt(2);
    try (DeviceSegment segment =
            DeviceSegment.of(
                createTempDir(),
                vectors(500),
                // hits with negative products are looked for again by the CPU
                random.nextBoolean()
                    ? VectorSimilarityFunction.EUCLIDEAN
                    : VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT,
                VamanaParameters.DEFAULT.withGraph(16, 32, 1.2f).withThresholds(0, 0),
                Workers.callingThread());
        SimulatedDriver driver = driver();
        GpuExecutor executor =
            GpuExecutor.open(
                () -> driver,
                ResidencyOptions.defaults(DEVICE_BYTES)
                    .withPlacement(Placement.EXACT)
                    .withLimits(MemoryLimit.percent(90), MemoryLimit.bytes(0)),
                QUIET.withPlan(PlanMode.GRAPH).withBatches(BATCHES),
                new QuietListener())) {
      SegmentView view = segment.view();
      executor.warm(view);
      await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
      AtomicReference<Throwable> failure = new AtomicReference<>();
      List<Thread> threads = new ArrayList<>();
      for (int caller = 0; caller < callers; caller++) {
        List<WorkItem> items = items(view, vectors(300 + random.nextInt(1_000)));
        List<WorkResult> expected = new CpuExecutor(Workers.callingThread()).search(items);
        threads.add(
            new Thread(
                () -> {
                  try {
                    for (int call = 0; call < 10; call++) {
                      assertSame(expected, executor.search(items), 0.97);
                    }
                  } catch (Throwable e) {
                    failure.set(e);
                  }
                }));
      }
      threads.forEach(Thread::start);
      Threads.join(threads);
      if (failure.get() != null) {
        throw new AssertionError(failure.get());
      }
      executor.closing(view);
    }
  }
}
