package dev.vamana.cuda;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** Tests failing devices: every answer is correct, and no memory leaks. */
public class GpuFailureTests extends GpuTestCase {

  private static final long RETRY_NANOS = 1_000_000;

  private static GpuOptions options() {
    return WALKS.withBatches(BATCHES).withTimes(times -> times.retry(RETRY_NANOS, 8 * RETRY_NANOS));
  }

  /** Remembers what an operator is told. */
  private static final class Told extends QuietListener {
    final List<FallbackReason> reasons = new ArrayList<>();
    final AtomicInteger losses = new AtomicInteger();
    final CountDownLatch recovered = new CountDownLatch(1);

    @Override
    public synchronized void fallback(FallbackReason reason, String detail) {
      reasons.add(reason);
    }

    @Override
    public void lost(GpuException cause, long retryMillis) {
      losses.incrementAndGet();
    }

    @Override
    public void recovered(DeviceInfo device) {
      recovered.countDown();
    }
  }

  public void testNoDeviceAtFirst() {
    GpuException none = new GpuException(GpuException.Kind.UNAVAILABLE, "no driver");
    GpuException thrown =
        expectThrows(
            GpuException.class,
            () ->
                openAtOnce(
                    options(),
                    () -> {
                      throw none;
                    },
                    everything(Placement.EXACT),
                    new QuietListener()));
    assertSame(none, thrown);
  }

  /** Losses counted; one that was found after the last answer is counted a moment later. */
  private static long losses(GpuExecutor executor, long expected) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    long lost;
    do {
      lost = executor.statistics().counter("contexts", "lost");
      Thread.onSpinWait();
    } while (lost < expected && System.nanoTime() < end);
    return lost;
  }

  public void testComesBack() throws Exception {
    FaultyDriver first = new FaultyDriver(driver());
    SimulatedDriver second = driver();
    Told told = new Told();
    AtomicInteger attempts = new AtomicInteger();
    Supplier<CudaDriver> drivers =
        () -> {
          int attempt = attempts.incrementAndGet();
          if (attempt == 1) {
            return first;
          }
          if (attempt <= 3) {
            throw new GpuException(GpuException.Kind.UNAVAILABLE, "not yet");
          }
          return second;
        };
    try (TestIndex index = TestIndex.any(600, 2)) {
      List<WorkItem> items = index.items(20, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      GpuExecutor executor = openAtOnce(options(), drivers, everything(Placement.EXACT), told);
      try {
        index.views().forEach(executor::opened);
        assertSame(expected, executor.search(items), 0.98);
        long before = executor.statistics().counter("batches", "launches");
        assertTrue(before > 0);
        first.fail(FaultyDriver.Operation.LAUNCH, 1, GpuException.Kind.CONTEXT_LOST);
        assertSame(expected, executor.search(items), 0.98);
        assertTrue(told.recovered.await(2, TimeUnit.MINUTES));
        assertEquals(1, told.losses.get());
        assertTrue(executor.statistics().usable());
        for (SegmentView view : index.views()) {
          assertEquals(DevicePresence.State.RESIDENT, executor.presence(view).state());
        }
        assertSame(expected, executor.search(items), 0.98);
        GpuStatistics after = executor.statistics();
        assertTrue(after.counter("batches", "launches") > before);
        assertEquals(2, after.counter("contexts", "opened"));
        assertEquals(2, after.counter("contexts", "failed_attempts"));
        for (SegmentView view : index.views()) {
          executor.closing(view);
        }
      } finally {
        executor.close();
      }
      assertFalse(executor.statistics().usable());
      assertSame("a closed executor still answers", expected, executor.search(items), 1);
    }
  }

  private static void assertSame(
      String message, List<WorkResult> expected, List<WorkResult> actual, double share) {
    assertSame(expected, actual, share);
  }

  /** Whatever fails whenever: threads get right answers, and closing leaves nothing. */
  public void testFailuresAtRandom() throws Exception {
    try (TestIndex index = TestIndex.any(800, 3)) {
      List<WorkItem> items = index.items(60, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      Supplier<CudaDriver> drivers =
          failingAtRandom(() -> new SimulatedDriver(kernels, DEVICE_BYTES, true));
      try (GpuExecutor opened =
          openAtLast(
              () ->
                  openAtOnce(
                      options(), drivers, everything(Placement.EXACT), new QuietListener()))) {
        Threads.run(
            4,
            thread -> {
              for (int round = 0; round < 25; round++) {
                int from = (thread * 7 + round) % 40;
                assertSame(
                    expected.subList(from, from + 20),
                    opened.search(items.subList(from, from + 20)),
                    0.97);
              }
            });
      }
    }
  }
}
