package dev.vamana.work;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.lucene.tests.util.LuceneTestCase;

public class ThreadsTests extends LuceneTestCase {

  public void testAnInterruptionIsKeptForLater() {
    CountDownLatch end = new CountDownLatch(1);
    Thread first = new Thread(() -> await(end));
    Thread second = new Thread(() -> await(end));
    Thread caller = Thread.currentThread();
    Thread interrupts =
        new Thread(
            () -> {
              caller.interrupt();
              end.countDown();
            });
    first.start();
    second.start();
    interrupts.start();
    Threads.join(List.of(first, second, interrupts));
    assertTrue(Thread.interrupted());
    assertFalse(first.isAlive() || second.isAlive() || interrupts.isAlive());
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
