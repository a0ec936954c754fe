package dev.vamana.cuda;

import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests callers that give up, and segments and executors that close, while the device is busy. */
public class GpuWaitingTests extends GpuTestCase {

  private BlockedKernels blocked;
  private GpuExecutor executor;
  private TestIndex index;
  private ExecutorService pool;
  private final Uploads uploads = new Uploads();

  @Override
  public void setUp() throws Exception {
    super.setUp();
    blocked = new BlockedKernels(kernels);
    SimulatedDriver driver = new SimulatedDriver(blocked, DEVICE_BYTES, true);
    executor =
        GpuExecutor.open(
            () -> driver,
            everything(Placement.EXACT),
            WALKS.withBatches(BATCHES).withWaitForUpload(true),
            () -> uploads,
            new QuietListener());
    index = TestIndex.any(900, 3);
    pool = Executors.newCachedThreadPool(new NamedThreadFactory("search"));
  }

  @Override
  public void tearDown() throws Exception {
    blocked.letGo();
    executor.close();
    pool.shutdown();
    assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    index.close();
    super.tearDown();
  }

  private List<WorkItem> items(int count, BooleanSupplier cancelled) throws Exception {
    List<WorkItem> items = new ArrayList<>();
    for (WorkItem item : index.items(count, WalkParameters.Distances.EXACT)) {
      items.add(
          Walks.limited(
              Walks.item(item.segment(), item.query(), item.k(), WalkParameters.exact(item.k())),
              Long.MAX_VALUE,
              cancelled));
    }
    return items;
  }

  public void testCancelledBefore() throws Exception {
    for (WorkResult result : executor.search(items(5, () -> true))) {
      assertFalse(result.complete());
      assertEquals(0, result.ordinals().length);
    }
    assertEquals(0, executor.statistics().counter("batches", "launches"));
  }

  public void testCancelledWhileWaiting() throws Exception {
    AtomicBoolean cancelled = new AtomicBoolean();
    List<WorkItem> items = items(5, cancelled::get);
    Future<List<WorkResult>> results = pool.submit(() -> executor.search(items));
    blocked.awaitStart();
    cancelled.set(true);
    for (WorkResult result : results.get(2, TimeUnit.MINUTES)) {
      assertFalse(result.complete());
    }
    assertTrue(
        "the device still uses the memory",
        executor.statistics().counter("now", "staging_bytes") > 5 * 1024);
    blocked.letGo();
    // counted by the device's thread, when it ends the launch
    await(() -> executor.statistics().counter("batches", "abandoned_requests") > 0);
    awaitIdle();
    assertEquals(1, executor.statistics().counter("batches", "abandoned_requests"));
    assertSame(onCpu(items(3, () -> false)).size(), 3);
  }

  private static void assertSame(int expected, int actual) {
    assertEquals(expected, actual);
  }

  private void awaitIdle() throws InterruptedException {
    await(() -> executor.statistics().counter("now", "items_pending") == 0);
  }

  public void testSomeCancelledWhileWaiting() throws Exception {
    AtomicBoolean cancelled = new AtomicBoolean();
    CountDownLatch noticed = new CountDownLatch(1);
    BooleanSupplier asked =
        () -> {
          if (cancelled.get()) {
            noticed.countDown();
          }
          return cancelled.get();
        };
    List<WorkItem> items = new ArrayList<>(items(4, asked));
    items.addAll(items(4, () -> false));
    List<WorkResult> expected = onCpu(items);
    Future<List<WorkResult>> results = pool.submit(() -> executor.search(items));
    blocked.awaitStart();
    cancelled.set(true);
    // asked by the thread that reads the results afterwards
    assertTrue(noticed.await(2, TimeUnit.MINUTES));
    blocked.letGo();
    List<WorkResult> found = results.get(2, TimeUnit.MINUTES);
    assertSame(expected.subList(4, 8), found.subList(4, 8), 0.9);
    for (WorkResult result : found.subList(0, 4)) {
      assertFalse(result.complete());
    }
  }

  public void testSegmentClosedWhileWaiting() throws Exception {
    List<WorkItem> items = items(6, () -> false);
    SegmentView view = items.get(2).segment();
    Future<List<WorkResult>> running = pool.submit(() -> executor.search(items));
    blocked.awaitStart();
    long resident = residentBytes(executor);
    List<WorkItem> late = items(2, () -> false);
    Future<List<WorkResult>> queued = pool.submit(() -> executor.search(items.subList(2, 3)));
    Future<?> closing = pool.submit(() -> executor.closing(view));
    Exception ended = expectThrows(Exception.class, () -> running.get(2, TimeUnit.MINUTES));
    assertTrue(ended.toString(), ended.getCause() instanceof AlreadyClosedException);
    closing.get(2, TimeUnit.MINUTES);
    assertEquals("a kernel still reads the segment", resident, residentBytes(executor));
    blocked.letGo();
    await(() -> residentBytes(executor) < resident);
    try {
      assertEquals(1, queued.get(2, TimeUnit.MINUTES).size());
    } catch (java.util.concurrent.ExecutionException e) {
      assertTrue(e.toString(), e.getCause() instanceof AlreadyClosedException);
    }
    // what comes late is the CPU's, which reads the files as long as they are open
    long cpu = executor.statistics().counter("items_on_cpu", "not_resident");
    executor.search(items.subList(2, 3));
    assertEquals(cpu + 1, executor.statistics().counter("items_on_cpu", "not_resident"));
    assertEquals(2, late.size());
  }

  public void testCloseWaitsForSearches() throws Exception {
    List<WorkItem> items = items(6, () -> false);
    List<WorkResult> expected = onCpu(items);
    Future<List<WorkResult>> running = pool.submit(() -> executor.search(items));
    blocked.awaitStart();
    Future<?> closing = pool.submit(executor::close);
    Thread.sleep(20);
    assertFalse(closing.isDone());
    blocked.letGo();
    assertSame(expected, running.get(2, TimeUnit.MINUTES), 0.9);
    closing.get(2, TimeUnit.MINUTES);
    assertFalse(executor.statistics().usable());
  }

  public void testWaitsForUpload() throws Exception {
    uploads.delay();
    List<WorkItem> items = items(3, () -> false);
    Future<List<WorkResult>> running = pool.submit(() -> executor.search(items));
    Thread.sleep(20);
    assertFalse(running.isDone());
    uploads.arrive();
    blocked.letGo();
    assertSame(onCpu(items), running.get(2, TimeUnit.MINUTES), 0.9);
    assertEquals(0, executor.statistics().counter("items_on_cpu", "not_resident"));
  }

  /** A segment that arrives between the moments of asking for it and of asking where it is. */
  public void testArrivesWhileItIsAskedFor() throws Exception {
    blocked.letGo();
    List<WorkItem> items = items(1, () -> false);
    uploads.miss(1);
    assertSame(onCpu(items), executor.search(items), 0.9);
    assertEquals(0, executor.statistics().counter("items_on_cpu", "not_resident"));
  }

  /** Whenever a segment arrives, between any two looks, whoever waits for it gets it. */
  public void testArrivesBetweenLooks() throws Exception {
    blocked.letGo();
    for (int round = 0; round < 10; round++) {
      try (TestIndex fresh = TestIndex.any(300, 1)) {
        List<WorkItem> items = fresh.items(1, WalkParameters.Distances.EXACT);
        uploads.delay();
        Future<?> arrival = pool.submit(uploads::arrive);
        executor.search(items);
        arrival.get(2, TimeUnit.MINUTES);
        long late = executor.statistics().counter("items_on_cpu", "not_resident");
        assertEquals("round " + round, 0, late);
        fresh.views().forEach(executor::closing);
      }
    }
  }

  /** Requests that queue while the device is busy are one batch. */
  public void testQueueWhileBusyIsOneBatch() throws Exception {
    List<Future<List<WorkResult>>> futures = new ArrayList<>();
    int all = 0;
    // so many launches take whatever waits, and then no other begins beside them for a few items
    for (int launches = 1; launches <= BatchOptions.EAGER; launches++) {
      all += launches;
      List<WorkItem> items = items(launches, () -> false);
      futures.add(pool.submit(() -> executor.search(items)));
      long running = launches;
      await(() -> executor.statistics().counter("now", "launches_in_flight") == running);
    }
    blocked.awaitStart();
    for (int i = 0; i < 2; i++) {
      all += 2;
      List<WorkItem> more = items(2, () -> false);
      futures.add(pool.submit(() -> executor.search(more)));
    }
    awaitPending(executor, all);
    blocked.letGo();
    for (Future<List<WorkResult>> future : futures) {
      future.get(2, TimeUnit.MINUTES);
    }
    assertEquals(BatchOptions.EAGER + 1, executor.statistics().counter("batches", "launches"));
    assertEquals(all, executor.statistics().counter("batches", "items"));
  }

  /**
   * Who was answered just now can still join what queued while the device was busy. That is so only
   * if he comes within the time that the device waits, so a machine that was too slow for that is
   * given more time, up to ten seconds.
   */
  public void testIdleDeviceLingers() throws Exception {
    long linger = TimeUnit.MILLISECONDS.toNanos(40);
    while (joins(linger) == false) {
      linger *= 4;
      assertTrue("nobody joins", linger < TimeUnit.SECONDS.toNanos(11));
    }
  }

  /** Returns whether who comes when the device is idle shares the launch of who came before. */
  private boolean joins(long linger) throws Exception {
    blocked.shut();
    GpuStatistics before = executor.statistics();
    executor.adjust(batches(4, 0));
    List<WorkItem> first = items(1, () -> false);
    Future<List<WorkResult>> running = pool.submit(() -> executor.search(first));
    awaitPending(executor, 1);
    await(() -> executor.statistics().counter("now", "launches_in_flight") == 1);
    executor.adjust(batches(4, linger));
    List<WorkItem> second = items(2, () -> false);
    Future<List<WorkResult>> waiting = pool.submit(() -> executor.search(second));
    awaitPending(executor, 3);
    // longer than the device is to wait once it is idle
    Thread.sleep(TimeUnit.NANOSECONDS.toMillis(linger) + 10);
    List<WorkItem> third = items(2, () -> false);
    blocked.letGo();
    running.get(2, TimeUnit.MINUTES);
    executor.search(third);
    waiting.get(2, TimeUnit.MINUTES);
    long launches = launched(before, "launches");
    assertEquals(5, launched(before, "items"));
    assertTrue(launches + " launches", launches == 2 || launches == 3);
    return launches == 2;
  }

  private long launched(GpuStatistics before, String what) {
    return executor.statistics().counter("batches", what) - before.counter("batches", what);
  }

  private static DynamicOptions batches(int maxBatch, long lingerNanos) {
    return new DynamicOptions(
        MemoryLimit.percent(50),
        MemoryLimit.percent(50),
        Placement.ALL,
        maxBatch,
        lingerNanos,
        false,
        true,
        PlanMode.GRAPH);
  }
}
