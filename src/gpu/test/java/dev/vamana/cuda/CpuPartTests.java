package dev.vamana.cuda;

import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.NamedThreadFactory;

/** The CPU's work on the device's results. */
public class CpuPartTests extends GpuTestCase {

  private static final int SIZE = 1_500;

  private static WorkItem item(
      SegmentView view, QueryVector query, int k, Bits accepted, int count) {
    WalkParameters walk = WalkParameters.exact(Math.max(k, 10));
    return new WorkItem(
        view, query, k, walk, accepted, count, Long.MAX_VALUE, () -> false, new int[0]);
  }

  /** Says when scans begin, once the walks of all items have missed hits. */
  private static final class WatchedBits implements Bits {
    private final FixedBitSet bits;
    private final Set<Thread> scanning = ConcurrentHashMap.newKeySet();
    private volatile Runnable begun = () -> {};

    WatchedBits(FixedBitSet bits) {
      this.bits = bits;
    }

    @Override
    public boolean get(int index) {
      if (scanning.contains(Thread.currentThread()) == false) {
        begun.run();
      }
      return bits.get(index);
    }

    @Override
    public int length() {
      return bits.length();
    }
  }

  /** Scans after walks that missed hits run side by side, and not in the context. */
  public void testScansAfterWalks() throws Exception {
    SimulatedDriver driver = driver();
    ExecutorService pool = Executors.newFixedThreadPool(3, new NamedThreadFactory("search"));
    try (TestIndex index =
            new TestIndex(
                VectorEncoding.FLOAT32,
                VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT,
                16,
                SIZE,
                1);
        GpuExecutor executor =
            openAtOnce(
                WALKS.withBatches(BATCHES).withWorkers(new Workers(pool, 2)),
                () -> driver,
                everything(Placement.EXACT),
                new QuietListener())) {
      SegmentView view = index.views().get(0);
      executor.opened(view);
      QueryVector query = index.vector();
      // only those whose inner product with the query is negative
      FixedBitSet negative = new FixedBitSet(SIZE);
      WorkResult all = CpuExecutor.scan(item(view, query, SIZE, null, SIZE));
      for (int rank = 0; rank < SIZE; rank++) {
        if (all.scores()[rank] < 1) {
          negative.set(all.ordinals()[rank]);
        }
      }
      WatchedBits bits = new WatchedBits(negative);
      List<WorkItem> items = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        items.add(item(view, query, 2, bits, negative.cardinality()));
      }
      List<WorkResult> expected = onCpu(items);
      CountDownLatch both = new CountDownLatch(2);
      AtomicBoolean closed = new AtomicBoolean();
      bits.begun =
          () -> {
            if (executor.statistics().counter("items_on_cpu", "few_hits") < 2) {
              return;
            }
            bits.scanning.add(Thread.currentThread());
            both.countDown();
            try {
              assertTrue("one scan at a time", both.await(20, TimeUnit.SECONDS));
              if (closed.getAndSet(true) == false) {
                // waits for the threads in the context
                pool.submit(executor::close).get(20, TimeUnit.SECONDS);
              }
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          };
      assertSame(expected, executor.search(items), 1);
      assertTrue(closed.get());
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }
}
