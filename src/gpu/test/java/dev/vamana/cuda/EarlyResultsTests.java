package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Tests what callers read while a launch goes on. A small call ends with its results. What is read
 * of a large one is counted once when the launch ends well, and dropped when the launch fails after
 * all results were written.
 */
public class EarlyResultsTests extends GpuTestCase {

  // a chunk of so many items ends with its launch
  private static final int LARGE = 33;

  private static final int K = 5;

  /** Never tells that a launch has ended, until it is asked to. */
  private static final class SilentDriver extends ForwardingDriver {
    private volatile boolean silent;

    SilentDriver(CudaDriver driver) {
      super(driver);
    }

    @Override
    public boolean done(long event) {
      return silent == false && super.done(event);
    }

    @Override
    public boolean idle(long stream) {
      return silent == false && super.idle(stream);
    }
  }

  /** Tells of the end of a launch only some milliseconds after it, or fails then. */
  private static final class LateDriver extends ForwardingDriver {
    private static final long LATE_NANOS = 3_000_000;

    private final AtomicBoolean fails;
    private volatile long recorded = System.nanoTime();

    LateDriver(CudaDriver driver, AtomicBoolean fails) {
      super(driver);
      this.fails = fails;
    }

    @Override
    public void record(long event, long stream) {
      recorded = System.nanoTime();
      super.record(event, stream);
    }

    @Override
    public boolean done(long event) {
      if (System.nanoTime() - recorded < LATE_NANOS) {
        return false;
      }
      boolean done = super.done(event);
      if (done && fails.compareAndSet(true, false)) {
        throw new GpuException(GpuException.Kind.CONTEXT_LOST, "lost after the last walk");
      }
      return done;
    }
  }

  /** Items of one shape: chunks of a call are as large as its packing allows. */
  private static List<WorkItem> items(TestIndex index, int count) throws IOException {
    SegmentView view = index.views().get(0);
    List<WorkItem> items = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      items.add(PlanTestCase.item(index, view, K, null));
    }
    return items;
  }

  public void testCountedOnceOrDropped() throws Exception {
    AtomicBoolean fails = new AtomicBoolean();
    AtomicInteger opened = new AtomicInteger();
    int count = LARGE + random().nextInt(400);
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor =
            openAtOnce(
                WALKS.withBatches(BATCHES),
                () -> {
                  opened.incrementAndGet();
                  return new LateDriver(driver(), fails);
                },
                everything(Placement.EXACT),
                new QuietListener())) {
      List<WorkItem> items = items(index, count);
      SegmentView view = items.get(0).segment();
      executor.opened(view);
      List<WorkResult> expected = onCpu(items);
      for (int call = 0; call < 5; call++) {
        assertSame(expected, executor.search(items), 0.97);
      }
      GpuStatistics before = executor.statistics();
      assertEquals(5L * count, sum(before, "items_by_placement") + sum(before, "items_on_cpu"));
      fails.set(true);
      assertSame(expected, executor.search(items), 0.97);
      assertFalse("it failed", fails.get());
      GpuStatistics after = executor.statistics();
      assertEquals(6L * count, sum(after, "items_by_placement") + sum(after, "items_on_cpu"));
      assertTrue(sum(after, "items_on_cpu") > sum(before, "items_on_cpu"));
      executor.closing(view);
    }
  }

  /** The driver tells of no end, and there are more calls than launches can be in flight. */
  public void testSmallCallsEndWithTheirResults() throws Exception {
    SilentDriver silent = new SilentDriver(driver());
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor =
            openAtOnce(
                WALKS.withBatches(BATCHES),
                () -> silent,
                everything(Placement.EXACT),
                new QuietListener())) {
      List<WorkItem> items = items(index, 1 + random().nextInt(LARGE - 1));
      int calls = BatchOptions.DEPTH + 1;
      executor.opened(items.get(0).segment());
      List<WorkResult> expected = onCpu(items);
      silent.silent = true;
      try {
        for (int call = 0; call < calls; call++) {
          assertSame(expected, executor.search(items), 0.97);
        }
      } finally {
        silent.silent = false;
      }
      GpuStatistics after = executor.statistics();
      assertEquals(calls * items.size(), sum(after, "items_by_placement"));
      assertEquals("nobody waited for the deadline", 0, after.counter("contexts", "lost"));
      executor.closing(items.get(0).segment());
    }
  }
}
