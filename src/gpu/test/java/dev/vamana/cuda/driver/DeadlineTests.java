package dev.vamana.cuda.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests when work is late, and who frees memory. */
public class DeadlineTests extends LuceneTestCase {

  private static void pass(long nanos) {
    for (long end = System.nanoTime() + nanos; System.nanoTime() - end < 0; ) {
      LockSupport.parkNanos(nanos);
    }
  }

  /** Between the question and the clock the process was stopped, and the work ended meanwhile. */
  public void testWorkThatEndedMeanwhileIsNotLate() {
    Deadline deadline = new Deadline(1_000);
    AtomicInteger asked = new AtomicInteger();
    deadline.await(
        () -> {
          boolean ended = asked.getAndIncrement() > 0;
          pass(2_000);
          return ended;
        });
    assertEquals(2, asked.get());
    deadline.checkHolds();
  }

  public void testLateWork() {
    Deadline deadline = new Deadline(TimeUnit.MILLISECONDS.toNanos(1));
    GpuException e = expectThrows(GpuException.class, () -> deadline.await(() -> false));
    assertTrue(e.contextLost());
    expectThrows(GpuException.class, deadline::checkHolds);
  }

  /** One thread frees whatever is freed, and closing ends it. */
  public void testOneThreadFrees() {
    Set<Thread> freeing = ConcurrentHashMap.newKeySet();
    SimulatedDriver simulated = new SimulatedDriver(SimulatedKernels.NONE, 1 << 20, true);
    GatedDriver driver =
        new GatedDriver(
            new ForwardingDriver(simulated) {
              @Override
              public void free(long address) {
                freeing.add(Thread.currentThread());
                super.free(address);
              }
            },
            new Deadline(TimeUnit.MINUTES.toNanos(5)));
    driver.bind();
    for (int i = 0; i < 20; i++) {
      driver.free(driver.allocate(4096));
    }
    assertEquals(1, freeing.size());
    assertFalse(freeing.contains(Thread.currentThread()));
    driver.close();
    assertTrue(driver.closed());
    freeing.forEach(dev.vamana.work.Threads::join);
  }
}
