package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests exact searches on failing devices, and while segments and executors close. */
public class ExactPlanFaultTests extends PlanTestCase {

  private static final long RETRY_NANOS = 1_000_000;

  private static GpuExecutor open(Supplier<CudaDriver> drivers) {
    return openAtOnce(
        options(PlanMode.EXACT, costs(1, 0, 0, 0))
            .withTimes(times -> times.retry(RETRY_NANOS, 8 * RETRY_NANOS)),
        drivers,
        everything(Placement.EXACT),
        new QuietListener());
  }

  /** Some are compared with all vectors, some with vectors of a bitset, some with few. */
  private static List<WorkItem> items(TestIndex index, int count, BooleanSupplier cancelled)
      throws IOException {
    List<WorkItem> items = new ArrayList<>();
    for (SegmentView view : index.views()) {
      FixedBitSet few = some(view.size(), view.size() / 10);
      for (int i = 0; i < count; i++) {
        items.add(item(index.vector(), view, 5, i % 2 == 0 ? null : few, cancelled));
      }
    }
    return items;
  }

  /** Where the device fails, the CPU may walk instead, but for strict filters. */
  private static void assertAnswers(
      List<WorkItem> items, List<WorkResult> expected, List<WorkResult> results) {
    assertSame(expected, results, 0.5);
    for (int i = 0; i < items.size(); i++) {
      if (items.get(i).acceptedOrdinals() != null) {
        assertSame(expected.subList(i, i + 1), results.subList(i, i + 1), 0.5);
      }
    }
  }

  /** The n-th operation of a kind fails: answers are right, and closing leaves nothing. */
  public void testEachOperationFailsOnce() throws IOException {
    try (TestIndex index = TestIndex.any(400, 2)) {
      List<WorkItem> items = items(index, 3, () -> false);
      List<WorkResult> expected = scanned(items);
      for (FaultyDriver.Operation operation :
          List.of(
              FaultyDriver.Operation.ALLOCATE,
              FaultyDriver.Operation.ALLOCATE_PINNED,
              FaultyDriver.Operation.COPY,
              FaultyDriver.Operation.LAUNCH,
              FaultyDriver.Operation.SYNCHRONIZE,
              FaultyDriver.Operation.STREAM,
              FaultyDriver.Operation.EVENT,
              FaultyDriver.Operation.KERNEL)) {
        for (GpuException.Kind kind : kinds()) {
          for (int n = 1; n <= (onDevice() ? 2 : 5); n++) {
            FaultyDriver first = new FaultyDriver(device());
            AtomicInteger opened = new AtomicInteger();
            try (GpuExecutor executor =
                open(() -> opened.getAndIncrement() == 0 ? first : device())) {
              index.views().forEach(executor::opened);
              first.fail(operation, n, kind);
              for (int round = 0; round < 3; round++) {
                assertAnswers(items, expected, executor.search(items));
              }
            }
          }
        }
      }
    }
  }

  /** Where the limit of device memory has no room for scratch, the CPU answers, and that counts. */
  public void testScratchIsRefused() throws IOException {
    try (TestIndex index = TestIndex.any(400, 2)) {
      List<WorkItem> items = items(index, 3, () -> false);
      List<WorkResult> expected = scanned(items);
      GpuOptions options = options(PlanMode.EXACT, costs(1, 0, 0, 0));
      long segments;
      try (GpuExecutor executor =
          openAtOnce(
              options, PlanTestCase::device, everything(Placement.EXACT), new QuietListener())) {
        index.views().forEach(executor::opened);
        segments = executor.statistics().counter("residency", "bytes_exact");
      }
      ResidencyOptions full =
          everything(Placement.EXACT)
              .withLimits(MemoryLimit.bytes(segments), MemoryLimit.percent(100));
      try (GpuExecutor executor =
          openAtOnce(options, PlanTestCase::device, full, new QuietListener())) {
        // kept, so that they do not make room
        index.views().forEach(view -> executor.keep(view, true));
        assertAnswers(items, expected, executor.search(items));
        assertEquals(items.size(), executor.statistics().counter("items_on_cpu", "out_of_memory"));
        assertTrue(executor.statistics().usable());
      }
    }
  }

  /** All kinds in nightly runs, otherwise one of them. */
  private static List<GpuException.Kind> kinds() {
    List<GpuException.Kind> kinds =
        List.of(
            GpuException.Kind.FAILED,
            GpuException.Kind.OUT_OF_MEMORY,
            GpuException.Kind.CONTEXT_LOST);
    return TEST_NIGHTLY ? kinds : List.of(RandomPicks.randomFrom(random(), kinds));
  }

  public void testFailuresAtRandom() throws Exception {
    try (TestIndex index = TestIndex.any(500, 3)) {
      List<WorkItem> items = items(index, 8, () -> false);
      List<WorkResult> expected = scanned(items);
      boolean threaded = random().nextBoolean();
      Supplier<CudaDriver> drivers = failingAtRandom(() -> device(threaded));
      try (GpuExecutor opened = openAtLast(() -> open(drivers))) {
        Threads.run(
            4,
            thread -> {
              for (int round = 0; round < 20; round++) {
                int from = (thread * 5 + round) % 16;
                List<WorkItem> own = items.subList(from, from + 8);
                assertAnswers(own, expected.subList(from, from + 8), opened.search(own));
              }
            });
      }
    }
  }

  /** A hit that the segment does not have is the device's fault, and the CPU answers. */
  public void testHitsThatCannotBe() throws IOException {
    assumeTrue("needs kernels of the host", kernels != null);
    int wrong = random().nextBoolean() ? 600 : -1;
    SimulatedKernels lying =
        name -> {
          SimulatedKernels.Body body = kernels.find(name);
          return (blocks, threads, sharedBytes, parameters) -> {
            body.run(blocks, threads, sharedBytes, parameters);
            long found =
                name.startsWith("exact_few")
                    ? parameters.get(ValueLayout.JAVA_LONG, ExactScanLayout.FOUND)
                    : 0;
            if (found != 0) {
              // the lower half of the first key
              MemorySegment.ofAddress(found)
                  .reinterpret(Long.BYTES)
                  .set(ValueLayout.JAVA_INT, 0, wrong);
            }
          };
        };
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor = open(() -> new SimulatedDriver(lying, DEVICE_BYTES, true))) {
      List<WorkItem> items = List.of(item(index, index.views().get(0), 5, null));
      assertAnswers(items, scanned(items), executor.search(items));
      assertEquals(1, onCpu(executor, "corrupt"));
    }
  }

  /** An error on the host fails one batch, and the device goes on. */
  public void testFailuresOfTheHost() throws IOException {
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor = open(() -> device())) {
      SegmentView view = index.views().get(0);
      AtomicBoolean fails = new AtomicBoolean(true);
      Bits accepted =
          new Bits() {
            @Override
            public boolean get(int ordinal) {
              if (fails.getAndSet(false)) {
                throw new UncheckedIOException(new IOException("cannot read"));
              }
              return ordinal % 2 == 0;
            }

            @Override
            public int length() {
              return 600;
            }
          };
      List<WorkItem> items =
          List.of(
              new WorkItem(
                  view,
                  index.vector(),
                  5,
                  WalkParameters.exact(10),
                  accepted,
                  300,
                  Long.MAX_VALUE,
                  () -> false,
                  new int[0]));
      assertEquals(5, executor.search(items).get(0).ordinals().length);
      assertFalse(fails.get());
      assertEquals(1, onCpu(executor, "launch_failed"));
      assertEquals(0, executor.statistics().counter("contexts", "lost"));
      assertSame(scanned(items), executor.search(items), 0.5);
      assertEquals(1, executor.statistics().counter("items_by_placement", "exact"));
    }
  }

  /** An executor whose device is busy with an exact search, and threads that search. */
  private final class Busy implements AutoCloseable {
    final BlockedKernels blocked = blocked();
    final ExecutorService pool = Executors.newFixedThreadPool(4, new NamedThreadFactory("search"));
    final TestIndex index = TestIndex.any(600, 2);
    final GpuExecutor executor = open(() -> new SimulatedDriver(blocked, DEVICE_BYTES, true));

    Busy() throws IOException {}

    Future<List<WorkResult>> search(List<WorkItem> items) {
      return pool.submit(() -> executor.search(items));
    }

    List<WorkItem> alike(int count, BooleanSupplier cancelled) throws IOException {
      List<WorkItem> items = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        items.add(item(index.vector(), index.views().get(0), 5, null, cancelled));
      }
      return items;
    }

    @Override
    public void close() throws Exception {
      blocked.letGo();
      executor.close();
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
      index.close();
    }
  }

  private static void awaitWaiting(GpuExecutor executor, int scans) throws InterruptedException {
    await(() -> executor.statistics().counter("now", "scans_waiting") >= scans);
  }

  public void testCancelledWhileWaiting() throws Exception {
    try (Busy busy = new Busy()) {
      AtomicBoolean cancelled = new AtomicBoolean();
      Future<List<WorkResult>> results = busy.search(busy.alike(3, cancelled::get));
      busy.blocked.awaitStart();
      Future<List<WorkResult>> queued = busy.search(busy.alike(2, cancelled::get));
      awaitWaiting(busy.executor, 1);
      cancelled.set(true);
      for (Future<List<WorkResult>> each : List.of(results, queued)) {
        for (WorkResult result : each.get(2, TimeUnit.MINUTES)) {
          assertFalse(result.complete());
          assertEquals(0, result.ordinals().length);
        }
      }
      assertEquals(5, busy.executor.statistics().counter("items", "cancelled"));
      busy.blocked.letGo();
      List<WorkItem> items = busy.alike(2, () -> false);
      assertSame(scanned(items), busy.executor.search(items), 0.9);
      // the queued scan was left out, since it was given up before it began
      assertEquals(2, busy.executor.statistics().counter("plan_batches", "scan"));
    }
  }

  public void testSegmentClosedWhileWaiting() throws Exception {
    try (Busy busy = new Busy()) {
      List<WorkItem> items = busy.alike(2, () -> false);
      Future<List<WorkResult>> running = busy.search(items);
      busy.blocked.awaitStart();
      Future<List<WorkResult>> queued = busy.search(items.subList(0, 1));
      awaitWaiting(busy.executor, 1);
      long resident = residentBytes(busy.executor);
      Future<?> closing = busy.pool.submit(() -> busy.executor.closing(items.get(0).segment()));
      for (Future<List<WorkResult>> each : List.of(running, queued)) {
        Exception ended =
            expectThrows(ExecutionException.class, () -> each.get(2, TimeUnit.MINUTES));
        assertTrue(ended.toString(), ended.getCause() instanceof AlreadyClosedException);
      }
      closing.get(2, TimeUnit.MINUTES);
      assertEquals("a kernel still reads the segment", resident, residentBytes(busy.executor));
      busy.blocked.letGo();
      await(() -> residentBytes(busy.executor) < resident);
      long cpu = onCpu(busy.executor, "not_resident");
      busy.executor.search(items);
      assertEquals(cpu + 2, onCpu(busy.executor, "not_resident"));
    }
  }

  public void testCloseWaitsForSearches() throws Exception {
    try (Busy busy = new Busy()) {
      List<WorkItem> items = items(busy.index, 2, () -> false);
      List<WorkResult> expected = scanned(items);
      Future<List<WorkResult>> running = busy.search(items);
      busy.blocked.awaitStart();
      Future<?> closing = busy.pool.submit(busy.executor::close);
      Thread.sleep(20);
      assertFalse(closing.isDone());
      busy.blocked.letGo();
      assertSame(expected, running.get(2, TimeUnit.MINUTES), 0.95);
      closing.get(2, TimeUnit.MINUTES);
      assertFalse(busy.executor.statistics().usable());
    }
  }

  /** Similar requests that queue while the device is busy are one batch. */
  public void testQueueWhileBusyIsOneBatch() throws Exception {
    try (Busy busy = new Busy()) {
      List<Future<List<WorkResult>>> futures = new ArrayList<>();
      List<List<WorkItem>> asked = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        List<WorkItem> items = busy.alike(1 + i, () -> false);
        asked.add(items);
        futures.add(busy.search(items));
        busy.blocked.awaitStart();
      }
      awaitWaiting(busy.executor, 3);
      busy.blocked.letGo();
      for (int i = 0; i < 4; i++) {
        assertSame(scanned(asked.get(i)), futures.get(i).get(2, TimeUnit.MINUTES), 0.9);
      }
      assertEquals(2, busy.executor.statistics().counter("plan_batches", "scan"));
      assertEquals(10, items(busy.executor, "scan"));
    }
  }
}
