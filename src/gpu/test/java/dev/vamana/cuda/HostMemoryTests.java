package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Tests that pinned memory is counted to the byte, and that the CPU answers if memory is refused.
 */
public class HostMemoryTests extends GpuTestCase {

  /** Refuses what is above a limit, or at random. */
  private static final class TestAccount implements HostMemoryAccount {
    private final Random random = new Random(random().nextLong());
    private volatile long limit = Long.MAX_VALUE;
    private volatile double refusals;
    private long used;
    private long most;

    @Override
    public synchronized boolean reserve(long bytes) {
      assertTrue(bytes >= 0);
      if (bytes > limit - used || random.nextDouble() < refusals) {
        return false;
      }
      used += bytes;
      most = Math.max(most, used);
      return true;
    }

    @Override
    public synchronized void release(long bytes) {
      assertTrue(bytes + " of " + used, bytes >= 0 && bytes <= used);
      used -= bytes;
    }

    synchronized long used() {
      return used;
    }

    synchronized long most() {
      return most;
    }

    @Override
    public String toString() {
      return "the test's account";
    }
  }

  private static GpuExecutor open(
      Placement placement, HostMemoryAccount account, Supplier<CudaDriver> drivers) {
    return openAtOnce(
        WALKS
            .withBatches(BATCHES)
            .withHostMemory(account)
            .withTimes(times -> times.retry(1_000_000, 8_000_000)),
        drivers,
        everything(placement),
        new QuietListener());
  }

  private static List<WorkItem> items(TestIndex index, Placement placement, int count)
      throws IOException {
    return index.items(
        count,
        placement == Placement.EXACT
            ? WalkParameters.Distances.EXACT
            : WalkParameters.Distances.QUANTIZED);
  }

  public void testRequestsAreCountedWhileTheyAreUnderWay() throws IOException {
    TestAccount account = new TestAccount();
    try (TestIndex index = TestIndex.any(600, 2)) {
      List<WorkItem> items = items(index, Placement.EXACT, 40);
      List<WorkResult> expected = onCpu(items);
      GpuExecutor executor = open(Placement.EXACT, account, GpuTestCase::driver);
      try {
        assertSame(expected, executor.search(items), 0.98);
        assertTrue(account.most() > 0);
        assertEquals(0, account.used());
        assertEquals(0, executor.statistics().counter("now", "host_memory_bytes"));
        long onDevice = executor.statistics().counter("items_by_placement", "exact");
        assertTrue("walked " + onDevice, onDevice > 0);
        account.limit = 10;
        long launches = executor.statistics().counter("batches", "launches");
        assertSame(expected, executor.search(items), 1);
        GpuStatistics statistics = executor.statistics();
        assertEquals(launches, statistics.counter("batches", "launches"));
        assertEquals(onDevice, statistics.counter("items_on_cpu", "out_of_memory"));
        assertEquals(0, account.used());
        // nothing of it stays behind
        account.limit = Long.MAX_VALUE;
        assertSame(expected, executor.search(items), 0.98);
        assertTrue(executor.statistics().counter("batches", "launches") > launches);
      } finally {
        executor.close();
      }
      assertEquals(0, account.used());
    }
  }

  public void testBuffersOfHostFetchAreCountedUntilTheEnd() throws IOException {
    TestAccount account = new TestAccount();
    try (TestIndex index = TestIndex.any(600, 2)) {
      List<WorkItem> items = items(index, Placement.HOST_FETCH, 20);
      List<WorkResult> expected = onCpu(items);
      GpuExecutor executor = open(Placement.HOST_FETCH, account, GpuTestCase::driver);
      try {
        account.limit = 100_000;
        assertEquals(expected.size(), executor.search(items).size());
        long refused = executor.statistics().counter("items_on_cpu", "out_of_memory");
        assertTrue("refused " + refused, refused > 0);
        assertTrue(account.used() <= 100_000);
        account.limit = Long.MAX_VALUE;
        executor.search(items);
        assertEquals(refused, executor.statistics().counter("items_on_cpu", "out_of_memory"));
        assertTrue(account.used() > 0);
        assertEquals(account.used(), executor.statistics().counter("now", "host_memory_bytes"));
      } finally {
        executor.close();
      }
      assertEquals(0, account.used());
    }
  }

  /** Whatever is refused or fails whenever, answers are right and the count comes back to zero. */
  public void testRefusalsAndFailuresAtRandom() throws Exception {
    for (Placement placement : new Placement[] {Placement.EXACT, Placement.HOST_FETCH}) {
      TestAccount account = new TestAccount();
      account.refusals = 0.2;
      AtomicLong seed = new AtomicLong(random().nextLong());
      Supplier<CudaDriver> drivers =
          () -> {
            FaultyDriver driver =
                new FaultyDriver(new SimulatedDriver(kernels, DEVICE_BYTES, true));
            driver.failAtRandom(seed.incrementAndGet(), 0.003);
            return driver;
          };
      try (TestIndex index = TestIndex.any(600, 3)) {
        List<WorkItem> items = items(index, placement, 60);
        List<WorkResult> expected = onCpu(items);
        GpuExecutor executor = null;
        for (int attempt = 0; executor == null; attempt++) {
          try {
            executor = open(placement, account, drivers);
          } catch (GpuException e) {
            assertTrue("never opens", attempt < 100);
          }
        }
        assertEquals(0, account.used());
        GpuExecutor shared = executor;
        try {
          Threads.run(
              4,
              thread -> {
                for (int round = 0; round < 15; round++) {
                  int from = (thread * 7 + round) % 40;
                  List<WorkResult> found = shared.search(items.subList(from, from + 20));
                  if (placement == Placement.EXACT) {
                    assertSame(expected.subList(from, from + 20), found, 0.95);
                  } else {
                    assertEquals(20, found.size());
                  }
                }
              });
          if (placement == Placement.EXACT) {
            // a context that was lost gives back what it had when it is torn down
            await(() -> account.used() == 0);
          }
        } finally {
          executor.close();
        }
        assertEquals(0, account.used());
      }
    }
  }
}
