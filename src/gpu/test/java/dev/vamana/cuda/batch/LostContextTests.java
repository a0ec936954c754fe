package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.kernel.WalkShape.Reads;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests what callers get and what stays reserved if a context is lost while kernels run. */
public class LostContextTests extends LuceneTestCase {

  private static final int BYTES = 4096;

  private final CountDownLatch started = new CountDownLatch(1);
  private final CountDownLatch end = new CountDownLatch(1);
  private final AtomicReference<GpuException> lost = new AtomicReference<>();

  private void kernel() {
    started.countDown();
    try {
      assertTrue(end.await(2, TimeUnit.MINUTES));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static Chunk chunk(StagingPool.Block block) {
    block.segment.set(ValueLayout.JAVA_INT, ResultLayout.COUNT, Chunk.VOID);
    return new Chunk(
        WalkShape.of(Reads.BYTE, 128, 0, 20, 32, 1, 0, false),
        new ChunkSizes(20, 32, 128, 0, 0, false),
        block,
        List.of(),
        List.of(),
        new ItemPlan[1],
        new int[] {0},
        new int[] {0},
        1);
  }

  private static void awaitDone(Chunk chunk) {
    awaitTrue(chunk::done);
  }

  private static void awaitTrue(BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (condition.getAsBoolean() == false) {
      assertTrue("not within two minutes", System.nanoTime() < deadline);
      Thread.onSpinWait();
    }
  }

  /** Nobody gets the memory that a running kernel reads and writes, however its caller ends. */
  public void testRunningKernelsKeepTheirMemory() throws Exception {
    SimulatedDriver driver =
        new SimulatedDriver(
            name -> (blocks, threads, shared, parameters) -> kernel(), 16 << 20, true);
    driver.bind();
    BatchOptions options = BatchOptions.DEFAULT.withBatches(8, 0);
    WalkLane lane =
        WalkLane.open(
            driver,
            () -> options,
            new SessionHostMemory(HostMemoryAccount.UNLIMITED),
            DeviceBudget.UNLIMITED,
            new BatchCounters(),
            lost::set);
    StagingPool staging = lane.staging();
    long fixed = staging.used();
    Chunk running = chunk(staging.allocate(BYTES));
    boolean abandons = random().nextBoolean();
    try {
      lane.submit(running);
      assertTrue(started.await(2, TimeUnit.MINUTES));
      if (abandons) {
        running.leave();
      }
      driver.lose("lost by the test");
      awaitTrue(() -> lost.get() != null);
      if (abandons == false) {
        awaitDone(running);
        assertTrue(running.failure().contextLost());
        running.leave();
      }
      assertEquals("the kernel still runs", fixed + BYTES, staging.used());
      Chunk late = chunk(staging.allocate(BYTES));
      lane.submit(late);
      awaitDone(late);
      late.leave();
      assertEquals("no kernel knows this memory", fixed + BYTES, staging.used());
    } finally {
      end.countDown();
      lane.stop();
      driver.close();
    }
  }
}
