package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.FaultyDriver.Operation;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** Tests one failure of every driver call, and random failures with many threads. */
public class ResidencyFailureTests extends MemoryTestCase {

  private static final long DEVICE = 64 * MEGABYTE;

  private static TestSegments segments;

  @BeforeClass
  public static void openSegments() throws IOException {
    segments =
        new TestSegments(
            random().nextInt(4) > 0,
            random().nextBoolean(),
            parameters(8, 4),
            VectorSimilarityFunction.EUCLIDEAN,
            24,
            150,
            100,
            120);
  }

  @AfterClass
  public static void closeSegments() throws IOException {
    segments.close();
    segments = null;
  }

  /** A residency whose driver is replaced when it loses its context, as an executor would do it. */
  private static final class Recovering {
    final ResidencyOptions options;
    final ResidencyCounters counters = new ResidencyCounters();
    final java.util.concurrent.Executor executor;
    private final Map<SegmentView, Boolean> open = new ConcurrentHashMap<>();
    final List<SimulatedDriver> devices = new ArrayList<>();
    final List<String> unexpected = new ArrayList<>();
    final boolean threaded;
    volatile Residency residency;
    FaultyDriver driver;
    private volatile long now;

    Recovering(
        Placement placement,
        long deviceLimit,
        Duration evictAfter,
        boolean threaded,
        java.util.concurrent.Executor executor) {
      this.threaded = threaded;
      this.executor = executor;
      options =
          ResidencyOptions.defaults(1 << 30)
              .withPlacement(placement)
              .withLimits(MemoryLimit.bytes(deviceLimit), MemoryLimit.bytes(16 * MEGABYTE))
              .withTimes(evictAfter, Duration.ZERO);
      begin();
    }

    private ResidencyListener listener(Residency[] made) {
      return new ResidencyListener() {
        @Override
        public void failed(SegmentView view, Throwable reason) {
          if (reason instanceof GpuException gpu) {
            if (gpu.contextLost()) {
              replace(made[0]);
            }
          } else {
            synchronized (unexpected) {
              unexpected.add(view + ": " + reason);
            }
          }
        }
      };
    }

    private void begin() {
      SimulatedDriver device = new SimulatedDriver(kernels, DEVICE, threaded);
      synchronized (devices) {
        devices.add(device);
      }
      driver = new FaultyDriver(device);
      Residency[] made = new Residency[1];
      made[0] =
          new Residency(driver, options, executor, () -> {}, listener(made), counters, () -> ++now);
      residency = made[0];
      open.keySet().forEach(residency::opened);
    }

    synchronized void replace(Residency lostOne) {
      if (lostOne != residency) {
        return;
      }
      FaultyDriver lost = driver;
      residency.abandon();
      last().lose("injected");
      lost.close();
      begin();
    }

    synchronized void opened(SegmentView view) {
      open.put(view, true);
      residency.opened(view);
    }

    /** As the session's owner does it: a context found to be lost is given up. */
    void closing(SegmentView view) {
      Residency from;
      synchronized (this) {
        open.remove(view);
        from = residency;
      }
      try {
        from.closing(view);
      } catch (GpuException e) {
        assertTrue(e.toString(), e.contextLost());
        replace(from);
      }
    }

    SimulatedDriver last() {
      synchronized (devices) {
        return devices.get(devices.size() - 1);
      }
    }

    void close() {
      residency.close();
      SimulatedDriver device = last();
      if (driver.lost()) {
        device.lose("injected");
      } else {
        assertEquals(List.of(), device.leftovers());
      }
      driver.close();
      assertEquals(List.of(), unexpected);
    }
  }

  private static void fails(Operation operation, GpuException.Kind kind, Placement placement)
      throws IOException {
    boolean met = true;
    for (int n = 1; met; n++) {
      assertTrue(operation + " is called too often", n < 200);
      ManualExecutor executor = new ManualExecutor();
      try (TestSegments again = segments.reopen()) {
        List<SegmentView> views = again.views(FLOATS);
        Recovering all = new Recovering(placement, DEVICE, Duration.ofSeconds(1), false, executor);
        FaultyDriver first = all.driver;
        first.fail(operation, n, kind);
        views.forEach(all::opened);
        executor.runAll();
        met = first.count(operation) >= n;
        all.closing(views.get(0));
        first.heal();
        // whatever failed is as it was before and can be done again
        for (int i = 1; i < views.size(); i++) {
          ResidentSegment early = all.residency.acquire(views.get(i));
          if (early != null) {
            early.release();
          }
          executor.runAll();
          ResidentSegment use = all.residency.acquire(views.get(i));
          if (use != null) {
            use.release();
          } else {
            Absence why = all.residency.absence(views.get(i));
            // nothing is mapped, or the driver is taken at its word
            assertTrue(
                placement + " " + why,
                kind == GpuException.Kind.NOT_SUPPORTED || placement == Placement.MAPPED_GRAPH);
          }
        }
        long expected = sum(all.residency, "bytes_");
        assertEquals(expected, all.last().deviceBytes());
        assertEquals(expected, counter(all.residency, "device_bytes"));
        assertEquals(all.last().registeredBytes(), counter(all.residency, "page_cache_bytes"));
        all.close();
      }
    }
  }

  public void testEveryCallFailsOnce() throws IOException {
    for (Placement placement : Placement.values()) {
      fails(Operation.COPY, GpuException.Kind.FAILED, placement);
      fails(Operation.ALLOCATE, GpuException.Kind.OUT_OF_MEMORY, placement);
      fails(Operation.ALLOCATE_PINNED, GpuException.Kind.OUT_OF_MEMORY, placement);
      fails(Operation.LAUNCH, GpuException.Kind.FAILED, placement);
      fails(Operation.SYNCHRONIZE, GpuException.Kind.FAILED, placement);
      fails(Operation.STREAM, GpuException.Kind.FAILED, placement);
      fails(Operation.KERNEL, GpuException.Kind.FAILED, placement);
      fails(Operation.REGISTER, GpuException.Kind.NOT_SUPPORTED, placement);
      fails(Operation.REGISTER, GpuException.Kind.FAILED, placement);
    }
  }

  public void testContextIsLostInEveryCall() throws IOException {
    for (Operation operation : Operation.values()) {
      Placement placement = Placement.values()[random().nextInt(6)];
      fails(operation, GpuException.Kind.CONTEXT_LOST, placement);
    }
  }

  public void testEveryCallFailsOnceWithPlacementsOfChoice() throws IOException {
    for (Operation operation : Operation.values()) {
      fails(operation, GpuException.Kind.OUT_OF_MEMORY, null);
    }
  }

  /** Segments are opened, searched and closed by many threads while the device fails. */
  public void testManyThreads() throws Exception {
    for (int round = 0; round < 3; round++) {
      boolean faulty = round > 0;
      ExecutorService uploads = Executors.newSingleThreadExecutor();
      Placement placement = random().nextBoolean() ? null : Placement.values()[random().nextInt(6)];
      Recovering all =
          new Recovering(
              placement,
              random().nextBoolean() ? DEVICE : 100_000,
              Duration.ofNanos(random().nextInt(50)),
              random().nextBoolean(),
              uploads);
      if (faulty) {
        all.driver.failAtRandom(random().nextLong(), 0.02);
      }
      int count = 4;
      List<Thread> threads = new ArrayList<>();
      List<Throwable> failures = new ArrayList<>();
      for (int t = 0; t < count; t++) {
        long seed = random().nextLong();
        Thread thread =
            new Thread(
                () -> {
                  try {
                    work(all, new Random(seed));
                  } catch (Throwable e) {
                    synchronized (failures) {
                      failures.add(e);
                    }
                  }
                });
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      for (Throwable failure : failures) {
        throw new AssertionError(failure);
      }
      assertEquals(0, counter(all.residency, "segments_waiting"));
      all.close();
      uploads.shutdown();
      assertTrue(uploads.awaitTermination(1, TimeUnit.MINUTES));
    }
  }

  private static void work(Recovering all, Random random) throws IOException {
    for (int i = 0; i < 30; i++) {
      try (TestSegments opened = segments.reopen()) {
        List<SegmentView> views = new ArrayList<>(opened.views(FLOATS));
        views.addAll(opened.views(BYTES));
        views.forEach(all::opened);
        for (int search = 0; search < 20; search++) {
          SegmentView view = views.get(random.nextInt(views.size()));
          ResidentSegment use = all.residency.acquire(view);
          if (use != null) {
            assertSame(view, use.view());
            assertTrue(use.descriptor() != 0);
            Thread.yield();
            use.release();
          }
          steer(all.residency, view, random);
        }
        views.forEach(all::closing);
      }
    }
  }

  private static void steer(Residency residency, SegmentView view, Random random) {
    switch (random.nextInt(16)) {
      case 0 -> residency.warm(view);
      case 1 -> residency.keep(view, random.nextBoolean());
      case 2 -> assertTrue(residency.evict(view) >= 0);
      case 3 ->
          residency.adjust(
              MemoryLimit.bytes(random.nextBoolean() ? DEVICE : random.nextInt(200_000)),
              MemoryLimit.bytes(random.nextInt(4) * MEGABYTE),
              random.nextBoolean() ? Placement.ALL : Set.of(Placement.values()[random.nextInt(6)]));
      default -> assertNotNull(residency.presence(view).state());
    }
  }
}
