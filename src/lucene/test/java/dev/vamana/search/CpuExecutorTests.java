package dev.vamana.search;

import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests how threads share the items of a call. */
public class CpuExecutorTests extends LuceneTestCase {

  private static final int SIZE = 200;

  /** All ordinals. The first question of each thread waits for the other thread. */
  private static final class Meeting implements Bits {
    private final CountDownLatch both = new CountDownLatch(2);
    private final ThreadLocal<Boolean> arrived = ThreadLocal.withInitial(() -> false);

    @Override
    public boolean get(int index) {
      if (arrived.get() == false) {
        arrived.set(true);
        both.countDown();
      }
      try {
        assertTrue("one thread answers alone", both.await(1, TimeUnit.MINUTES));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return true;
    }

    @Override
    public int length() {
      return SIZE;
    }
  }

  /** Two threads answer items that share their accepted ordinals and their cancellation. */
  private static void search(BooleanSupplier cancelled) throws Exception {
    float[] positions = new float[SIZE];
    for (int i = 0; i < SIZE; i++) {
      positions[i] = i;
    }
    HandMadeSegment segment = new HandMadeSegment(positions, new int[SIZE][0], 0);
    WorkItem.Terms terms =
        new WorkItem.Terms(
            segment,
            1,
            WalkParameters.exact(8),
            new Meeting(),
            SIZE,
            Long.MAX_VALUE,
            cancelled,
            new int[0]);
    List<WorkItem> items = new ArrayList<>();
    List<CpuExecutor.Way> ways = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      items.add(new WorkItem(terms, QueryVector.of(new float[] {i})));
      ways.add(CpuExecutor.Way.SCAN);
    }
    ExecutorService pool = Executors.newFixedThreadPool(1, new NamedThreadFactory("workers"));
    try {
      List<WorkResult> found = new CpuExecutor(new Workers(pool, 2)).search(items, ways);
      for (int i = 0; i < SIZE; i++) {
        assertArrayEquals(new int[] {i}, found.get(i).ordinals());
      }
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }

  public void testWorkersShareTheItems() throws Exception {
    search(() -> false);
  }

  /** As {@link WorkItem.Terms} promises. */
  public void testCancellationIsAskedByOneThreadAtATime() throws Exception {
    AtomicInteger asking = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger asked = new AtomicInteger();
    search(
        () -> {
          most.accumulateAndGet(asking.incrementAndGet(), Math::max);
          if (asked.getAndIncrement() < 4) {
            // leaves the other thread time to ask
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100);
            while (asking.get() == 1 && System.nanoTime() < end) {
              Thread.yield();
            }
          }
          asking.decrementAndGet();
          return false;
        });
    assertEquals(1, most.get());
  }
}
