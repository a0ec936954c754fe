package dev.vamana.work;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.tests.util.LuceneTestCase;

public class MemoryBudgetTests extends LuceneTestCase {

  public void testLimit() {
    MemoryBudget budget = new MemoryBudget(100);
    assertTrue(budget.reserve(60));
    assertFalse(budget.reserve(41));
    assertTrue(budget.reserve(40));
    assertTrue(budget.reserve(0));
    assertEquals(100, budget.used());
    budget.limit(50);
    assertFalse("more is in use than the new limit allows", budget.reserve(0));
    budget.release(60);
    assertTrue(budget.reserve(10));
    assertFalse(budget.reserve(Long.MAX_VALUE));
    budget.limit(Long.MAX_VALUE);
    assertTrue(budget.reserve(1L << 50));
    assertEquals(Runtime.getRuntime().maxMemory() / 2, MemoryBudget.halfOfHeap().limit());
    IllegalArgumentException e =
        expectThrows(IllegalArgumentException.class, () -> new MemoryBudget(-1));
    assertTrue(e.getMessage(), e.getMessage().contains("got -1"));
  }

  /** Threads that reserve at the same time never get more than there is. */
  public void testThreads() throws InterruptedException {
    MemoryBudget budget = new MemoryBudget(1_000);
    AtomicLong granted = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int j = 0; j < 1_000; j++) {
                  if (budget.reserve(1)) {
                    granted.incrementAndGet();
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(1_000, granted.get());
    assertEquals(1_000, budget.used());
  }
}
