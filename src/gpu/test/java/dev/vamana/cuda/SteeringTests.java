package dev.vamana.cuda;

import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.DevicePresence.State;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Tests changes of an executor's options while it works. */
public class SteeringTests extends GpuTestCase {

  private static final MemoryLimit PAGES = MemoryLimit.bytes(1 << 24);

  private static GpuExecutor open(MemoryLimit limit, FaultyDriver... drivers) {
    AtomicInteger next = new AtomicInteger();
    return GpuExecutor.open(
        () -> drivers[Math.min(drivers.length - 1, next.getAndIncrement())],
        ResidencyOptions.defaults(1L << 30).withPlacement(Placement.EXACT).withLimits(limit, PAGES),
        WALKS.withBatches(BATCHES).withTimes(times -> times.retry(1_000_000, 8_000_000)),
        new QuietListener());
  }

  private static DynamicOptions options(MemoryLimit limit, int maxBatch, boolean wait) {
    return new DynamicOptions(
        limit, PAGES, Placement.only(Placement.EXACT), maxBatch, 0, false, wait, PlanMode.GRAPH);
  }

  private static void await(SearchExecutor executor, SegmentView view, State state)
      throws InterruptedException {
    await(() -> executor.presence(view).state() == state);
  }

  public void testOnTheCpuThereIsNothingToSteer() throws Exception {
    try (TestIndex index = TestIndex.any(100, 1);
        SearchExecutor executor = new dev.vamana.search.CpuExecutor(Workers.callingThread())) {
      SegmentView view = index.views().get(0);
      executor.warm(view);
      executor.keep(view, true);
      assertEquals(0, executor.evict(view));
      assertEquals(DevicePresence.NO_DEVICE, executor.presence(view));
    }
  }

  /** Kept segments come into the next context before the other segments. */
  public void testKeptSegmentsAndOptionsOutliveTheContext() throws Exception {
    FaultyDriver first = new FaultyDriver(driver());
    FaultyDriver second = new FaultyDriver(driver());
    try (TestIndex index = TestIndex.any(900, 3);
        GpuExecutor executor = open(MemoryLimit.percent(50), first, second)) {
      List<SegmentView> views = index.views();
      executor.warm(views.get(0));
      await(executor, views.get(0), State.RESIDENT);
      long enoughForOne = executor.presence(views.get(0)).deviceBytes() * 3 / 2;
      views.forEach(executor::opened);
      for (SegmentView view : views) {
        await(executor, view, State.RESIDENT);
      }
      executor.keep(views.get(2), true);
      executor.adjust(options(MemoryLimit.bytes(enoughForOne), 16, false));
      await(executor, views.get(0), State.REFUSED);
      await(executor, views.get(1), State.REFUSED);
      assertEquals(State.RESIDENT, executor.presence(views.get(2)).state());
      // some of so many walk over the segment that is left on the device
      List<WorkItem> items = index.items(60, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      first.fail(FaultyDriver.Operation.LAUNCH, 1, GpuException.Kind.CONTEXT_LOST);
      assertSame(expected, executor.search(items), 0.98);
      await(() -> executor.statistics().counter("contexts", "opened") == 2);
      await(executor, views.get(2), State.RESIDENT);
      assertEquals(enoughForOne, executor.statistics().counter("residency", "device_limit_bytes"));
      executor.warm(views.get(0));
      await(executor, views.get(0), State.REFUSED);
      assertEquals("over budget", executor.presence(views.get(0)).reason());
      executor.keep(views.get(2), false);
      assertSame(expected, executor.search(items), 0.98);
    }
  }

  /** Batches change their size between calls and in the middle of them. */
  public void testBatchSizesChange() throws Exception {
    try (TestIndex index = TestIndex.any(600, 2);
        GpuExecutor executor =
            open(
                MemoryLimit.percent(50),
                new FaultyDriver(new SimulatedDriver(kernels, DEVICE_BYTES, true)))) {
      List<WorkItem> items = index.items(200, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      executor.adjust(options(MemoryLimit.percent(50), 1, true));
      assertSame(expected.subList(0, 20), executor.search(items.subList(0, 20)), 0.98);
      GpuStatistics before = executor.statistics();
      assertEquals(before.counter("batches", "items"), before.counter("batches", "launches"));
      // more than the launches have been made for
      executor.adjust(options(MemoryLimit.percent(50), 65_536, true));
      assertSame(expected, executor.search(items), 0.98);
      AtomicBoolean done = new AtomicBoolean();
      Thread changes =
          new Thread(
              () -> {
                for (int i = 1; done.get() == false; i++) {
                  executor.adjust(
                      new DynamicOptions(
                          MemoryLimit.percent(50),
                          PAGES,
                          Placement.only(Placement.EXACT),
                          i % 3 == 0 ? 1 : i * 7 % 900 + 1,
                          i % 2 * 100_000L,
                          i % 5 > 1,
                          true,
                          PlanMode.GRAPH));
                  LockSupport.parkNanos(100_000);
                }
              });
      changes.start();
      try {
        Threads.run(
            3,
            thread -> {
              for (int round = 0; round < 15; round++) {
                int from = (thread * 31 + round) % 100;
                List<WorkItem> some = items.subList(from, from + 100);
                assertSame(expected.subList(from, from + 100), executor.search(some), 0.98);
              }
            });
      } finally {
        done.set(true);
        changes.join();
      }
    }
  }

  public void testOptionsAreChecked() {
    expectThrows(IllegalArgumentException.class, () -> options(MemoryLimit.percent(50), 0, false));
    expectThrows(NullPointerException.class, () -> options(null, 1, false));
  }
}
