package dev.vamana.cuda;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests of calls whose items arrive at the device in several chunks. */
public class SlicedCallTests extends GpuTestCase {

  private static GpuExecutor open(Workers workers) {
    assumeTrue("needs kernels of the host", kernels != null);
    return openAtOnce(
        WALKS.withBatches(BATCHES).withWorkers(workers),
        GpuTestCase::driver,
        everything(Placement.EXACT),
        new QuietListener());
  }

  private static WorkItem item(TestIndex index, int parents) throws Exception {
    return new WorkItem(
        index.views().get(0),
        index.vector(),
        5,
        new WalkParameters(20, WalkParameters.Distances.EXACT, parents, 0),
        null,
        index.size,
        Long.MAX_VALUE,
        () -> false,
        new int[0]);
  }

  /** Items of two shapes in turns, so that there are chunks of both. */
  public void testEveryItemGetsItsAnswer() throws Exception {
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor = open(Workers.callingThread())) {
      List<WorkItem> items = new ArrayList<>();
      while (items.size() < 1_500) {
        items.add(item(index, random().nextInt(4) == 0 ? 4 : 1));
      }
      List<WorkResult> results = executor.search(items);
      assertSame(onCpu(items), results, 0.98);
    }
  }

  /** A large call in parts has the answers of the call as a whole, in the order of its items. */
  public void testInParts() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3, new NamedThreadFactory("parts"));
    try (TestIndex index = TestIndex.any(300, 1);
        GpuExecutor whole = open(Workers.callingThread());
        GpuExecutor parts = open(new Workers(threads, 4))) {
      List<WorkItem> items = new ArrayList<>();
      while (items.size() < 4_096 + random().nextInt(3_000)) {
        items.add(item(index, 1));
      }
      List<WorkResult> expected = whole.search(items);
      List<WorkResult> found = parts.search(items);
      assertEquals(items.size(), found.size());
      for (int i = 0; i < items.size(); i++) {
        assertArrayEquals(expected.get(i).ordinals(), found.get(i).ordinals());
        assertArrayEquals(expected.get(i).scores(), found.get(i).scores(), 0);
      }
      assertEquals(items.size(), parts.statistics().counter("items", "requested"));
      long calls = parts.statistics().counter("plan_calls", "graph");
      assertTrue(calls + " calls", calls >= 2);
    } finally {
      threads.shutdown();
      assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
    }
  }

  /** The parts of a call never ask at the same time whether it is cancelled. */
  public void testPartsAskOneAtATime() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(3, new NamedThreadFactory("parts"));
    AtomicInteger asking = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    BooleanSupplier cancelled =
        () -> {
          most.accumulateAndGet(asking.incrementAndGet(), Math::max);
          Thread.yield();
          asking.decrementAndGet();
          return false;
        };
    try (TestIndex index = TestIndex.any(300, 1);
        GpuExecutor parts = open(new Workers(threads, 4))) {
      List<WorkItem> items = new ArrayList<>();
      while (items.size() < 8_192) {
        WorkItem item = item(index, 1);
        items.add(new WorkItem(item.terms().withCancelled(cancelled), item.query()));
      }
      assertEquals(items.size(), parts.search(items).size());
      assertEquals(1, most.get());
    } finally {
      threads.shutdown();
      assertTrue(threads.awaitTermination(1, TimeUnit.MINUTES));
    }
  }
}
