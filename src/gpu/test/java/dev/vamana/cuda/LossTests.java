package dev.vamana.cuda;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.lucene.util.NamedThreadFactory;

/**
 * Tests that a lost context keeps nobody waiting: neither who closes a segment, nor its successor.
 */
public class LossTests extends GpuTestCase {

  private static final long RETRY_NANOS = 1_000_000;

  private static GpuOptions options() {
    return WALKS.withBatches(BATCHES).withTimes(times -> times.retry(RETRY_NANOS, 8 * RETRY_NANOS));
  }

  private static WorkItem item(WorkItem like, BooleanSupplier cancelled) {
    return Walks.limited(
        Walks.item(like.segment(), like.query(), like.k(), like.walk()), Long.MAX_VALUE, cancelled);
  }

  /** An item whose question whether it is cancelled lasts until the test ends, on the CPU. */
  private static final class Slow implements BooleanSupplier {
    final CountDownLatch onCpu = new CountDownLatch(1);
    final CountDownLatch end = new CountDownLatch(1);
    private volatile boolean lost;

    @Override
    public boolean getAsBoolean() {
      if (lost) {
        onCpu.countDown();
        try {
          assertTrue(end.await(2, TimeUnit.MINUTES));
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return false;
    }
  }

  /** Whoever closes a segment waits for the lost context, not for the CPU's answers. */
  public void testClosingDoesNotWaitForTheCpu() throws Exception {
    FaultyDriver first = new FaultyDriver(driver());
    Slow slow = new Slow();
    GpuException none = new GpuException(GpuException.Kind.UNAVAILABLE, "none");
    AtomicInteger opened = new AtomicInteger();
    Supplier<CudaDriver> drivers =
        () -> {
          if (opened.getAndIncrement() == 0) {
            return first;
          }
          throw none;
        };
    QuietListener listener =
        new QuietListener() {
          @Override
          public void fallback(FallbackReason reason, String detail) {
            slow.lost = true;
          }
        };
    ExecutorService pool = Executors.newFixedThreadPool(2, new NamedThreadFactory("loss"));
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor =
            openAtOnce(options(), drivers, everything(Placement.EXACT), listener)) {
      List<WorkItem> items = index.items(1, WalkParameters.Distances.EXACT);
      SegmentView view = items.get(0).segment();
      executor.opened(view);
      first.fail(FaultyDriver.Operation.LAUNCH, 1, GpuException.Kind.CONTEXT_LOST);
      // several: a single item's call may send segments ahead
      List<WorkItem> call = List.of(item(items.get(0), slow), item(items.get(0), slow));
      Future<List<WorkResult>> answer = pool.submit(() -> executor.search(call));
      assertTrue(slow.onCpu.await(2, TimeUnit.MINUTES));
      try {
        pool.submit(() -> executor.closing(view)).get(1, TimeUnit.MINUTES);
        assertFalse("the CPU has not answered yet", answer.isDone());
      } finally {
        slow.end.countDown();
      }
      assertSame(onCpu(call), answer.get(2, TimeUnit.MINUTES), 1);
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }

  /** Whatever goes wrong when a context is opened again: there are further attempts. */
  public void testRecoverySurvivesWhatIsUnexpected() throws Exception {
    FaultyDriver first = new FaultyDriver(driver());
    CountDownLatch recovered = new CountDownLatch(1);
    AtomicInteger opened = new AtomicInteger();
    List<Throwable> thrown = new ArrayList<>();
    Supplier<CudaDriver> drivers =
        () ->
            switch (opened.getAndIncrement()) {
              case 0 -> first;
              case 1 -> throw new IllegalStateException("not what is expected");
              case 2 -> throw new NoClassDefFoundError("libcuda");
              default -> driver();
            };
    QuietListener listener =
        new QuietListener() {
          @Override
          public void stillLost(GpuException cause, long retryMillis) {
            thrown.add(cause.getCause());
          }

          @Override
          public void recovered(dev.vamana.cuda.driver.DeviceInfo device) {
            recovered.countDown();
          }
        };
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor =
            openAtOnce(options(), drivers, everything(Placement.EXACT), listener)) {
      List<WorkItem> items = index.items(5, WalkParameters.Distances.EXACT);
      List<WorkResult> expected = onCpu(items);
      first.fail(FaultyDriver.Operation.LAUNCH, 1, GpuException.Kind.CONTEXT_LOST);
      assertSame(expected, executor.search(items), 0.98);
      assertTrue(recovered.await(1, TimeUnit.MINUTES));
      assertEquals(IllegalStateException.class, thrown.get(0).getClass());
      assertEquals(NoClassDefFoundError.class, thrown.get(1).getClass());
      assertTrue(executor.statistics().usable());
      assertSame(expected, executor.search(items), 0.98);
    }
  }

  /** A kernel that never ends keeps no segment from closing. */
  public void testKernelThatNeverEnds() throws Exception {
    assumeTrue("needs kernels of the host", kernels != null);
    BlockedKernels blocked = new BlockedKernels(kernels);
    GpuException none = new GpuException(GpuException.Kind.UNAVAILABLE, "none");
    AtomicInteger opened = new AtomicInteger();
    Supplier<CudaDriver> drivers =
        () -> {
          if (opened.getAndIncrement() == 0) {
            return new dev.vamana.cuda.driver.SimulatedDriver(blocked, DEVICE_BYTES, true);
          }
          throw none;
        };
    Placement placement = random().nextBoolean() ? Placement.EXACT : Placement.HOST_FETCH;
    GpuOptions options =
        options().withTimes(times -> times.deadline(TimeUnit.MILLISECONDS.toNanos(50)));
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor =
            openAtOnce(options, drivers, everything(placement), new QuietListener())) {
      List<WorkItem> items = index.items(5, WalkParameters.Distances.EXACT);
      List<WorkResult> answers = executor.search(items);
      assertEquals(items.size(), answers.size());
      // callers are told before the session is
      await(() -> executor.statistics().usable() == false);
      executor.closing(items.get(0).segment());
      assertEquals(items.size(), executor.search(items).size());
    } finally {
      blocked.letGo();
    }
  }
}
