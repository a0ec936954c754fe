package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.FaultyDriver;
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
