package dev.vamana.cuda.memory;

import org.apache.lucene.tests.util.LuceneTestCase;

public class MemoryLimitTests extends LuceneTestCase {

  public void testShares() {
    assertEquals(40, MemoryLimit.DEFAULT_DEVICE.of(100));
    assertEquals(25, MemoryLimit.DEFAULT_PAGE_CACHE.of(100));
    assertEquals(100, MemoryLimit.percent(100).of(100));
    assertEquals(1L << 39, MemoryLimit.percent(50).of(1L << 40));
    assertEquals("12.5%", MemoryLimit.percent(12.5).toString());
  }

  public void testBytes() {
    assertEquals(7, MemoryLimit.bytes(7).of(100));
    assertEquals(100, MemoryLimit.bytes(700).of(100));
    assertEquals(0, MemoryLimit.bytes(0).of(100));
    assertEquals("7b", MemoryLimit.bytes(7).toString());
  }

  public void testTwoNodesOnADeviceLeaveRoom() {
    assertTrue(2 * MemoryLimit.DEFAULT_DEVICE.of(1000) <= 800);
  }

  public void testRanges() {
    for (double percent : new double[] {0, -1, 100.5, Double.NaN}) {
      IllegalArgumentException e =
          expectThrows(IllegalArgumentException.class, () -> MemoryLimit.percent(percent));
      assertTrue(e.getMessage(), e.getMessage().contains("above 0%"));
    }
    assertEquals(
        "memory limit must be at least 0 bytes, got -1",
        expectThrows(IllegalArgumentException.class, () -> MemoryLimit.bytes(-1)).getMessage());
    expectThrows(IllegalArgumentException.class, () -> new MemoryLimit(1, 1));
  }

  public void testBudget() {
    MemoryBudget budget = new MemoryBudget("test", 100);
    assertTrue(budget.tryReserve(60));
    assertFalse(budget.tryReserve(41));
    assertTrue(budget.tryReserve(40));
    assertEquals(0, budget.free());
    budget.release(100);
    assertEquals(100, budget.free());
    IllegalStateException e = expectThrows(IllegalStateException.class, () -> budget.release(1));
    assertEquals("1 bytes given back to test, of which 0 are in use", e.getMessage());
    expectThrows(IllegalArgumentException.class, () -> budget.tryReserve(-1));
    expectThrows(IllegalArgumentException.class, () -> budget.release(-1));
    assertFalse(budget.tryReserve(Long.MAX_VALUE));
    assertEquals(0, budget.used());
  }

  public void testBudgetOfManyThreads() throws InterruptedException {
    MemoryBudget budget = new MemoryBudget("test", 10);
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      threads[t] =
          new Thread(
              () -> {
                for (int i = 0; i < 10_000; i++) {
                  int bytes = i % 7;
                  if (budget.tryReserve(bytes)) {
                    assertTrue(budget.used() <= 10);
                    budget.release(bytes);
                  }
                }
              });
      threads[t].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(0, budget.used());
  }
}
