package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.Reads;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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
    return new Chunk(
        WalkShape.of(Reads.BYTE, 128, 0, 20, 32, 1, 0, false),
        new ChunkSizes(20, 32, 128, 0, 0, false),
        block,
        List.of(),
        List.of(),
        new int[] {0},
        new int[] {0},
        1);
  }

  private static void awaitDone(Chunk chunk) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (chunk.done() == false) {
      assertTrue("the chunk is not done", System.nanoTime() < deadline);
      Thread.onSpinWait();
    }
  }

  /** Nobody gets the memory that a running kernel reads and writes, however its caller ends. */
  public void testRunningKernelsKeepTheirMemory() throws Exception {
    SimulatedDriver driver =
        new SimulatedDriver(
            name -> (blocks, threads, shared, parameters) -> kernel(), 1 << 20, true);
    driver.bind();
    StagingPool staging =
        new StagingPool(driver, 1 << 20, new SessionHostMemory(HostMemoryAccount.UNLIMITED));
    Dispatcher dispatcher =
        new Dispatcher(driver, staging, Tuning.DEFAULT, 2, 1, 8, 0, new BatchCounters(), lost::set);
    Thread thread = new Thread(dispatcher, "dispatcher");
    thread.start();
    long fixed = staging.used();
    Chunk running = chunk(staging.allocate(BYTES));
    boolean abandons = random().nextBoolean();
    try {
      dispatcher.submit(running);
      assertTrue(started.await(2, TimeUnit.MINUTES));
      if (abandons) {
        running.abandon();
      }
      driver.lose("lost by the test");
      thread.join(TimeUnit.MINUTES.toMillis(2));
      assertNotNull(lost.get());
      if (abandons == false) {
        awaitDone(running);
        assertTrue(running.failure().contextLost());
        running.freeMemory();
      }
      assertEquals("the kernel still runs", fixed + BYTES, staging.used());
      Chunk late = chunk(staging.allocate(BYTES));
      dispatcher.submit(late);
      awaitDone(late);
      late.freeMemory();
      assertEquals("no kernel knows this memory", fixed + BYTES, staging.used());
    } finally {
      end.countDown();
      dispatcher.close();
      thread.join();
      driver.close();
    }
  }
}
