package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchCounters;
import dev.vamana.cuda.batch.Chunk;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.batch.Packer;
import dev.vamana.cuda.batch.WalkLane;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.memory.ResidencyCounters;
import dev.vamana.cuda.memory.ResidencyListener;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.AbstractList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.lucene.util.FixedBitSet;

/** {@link Packer} with items that cannot be read. */
public class PackerTests extends GpuTestCase {

  private static final int ITEMS = 4;

  /** A list that fails when it is read for the n-th time. */
  private static final class Failing extends AbstractList<WorkItem> {
    private final List<WorkItem> items;
    private int left;

    Failing(List<WorkItem> items, int left) {
      this.items = items;
      this.left = left;
    }

    @Override
    public WorkItem get(int index) {
      if (left-- == 0) {
        throw new IllegalStateException("an item cannot be read");
      }
      return items.get(index);
    }

    @Override
    public int size() {
      return items.size();
    }
  }

  public void testNothingStaysBehindAfterAFailure() throws IOException {
    SimulatedDriver driver = driver();
    driver.bind();
    try (TestIndex index = TestIndex.any(200, 1)) {
      SegmentView view = index.views().get(0);
      Residency residency =
          new Residency(
              driver,
              everything(Placement.EXACT),
              Runnable::run,
              () -> {},
              ResidencyListener.NONE,
              new ResidencyCounters(),
              System::nanoTime);
      residency.opened(view);
      ResidentSegment held = residency.acquire(view);
      WalkLane lane =
          WalkLane.open(
              driver,
              () -> BATCHES,
              new SessionHostMemory(HostMemoryAccount.UNLIMITED),
              DeviceBudget.UNLIMITED,
              new BatchCounters(),
              e -> {});
      List<WorkItem> items =
          IntStream.range(0, ITEMS).mapToObj(i -> item(index, view, 1 + i % 2)).toList();
      ItemPlan[] plans = new ItemPlan[ITEMS];
      for (int i = 0; i < ITEMS; i++) {
        plans[i] = ItemPlan.of(items.get(i), held);
      }
      int[] indices = IntStream.range(0, ITEMS).toArray();
      long used = lane.stagingUsed();
      int failures = 0;
      for (boolean packed = false; packed == false; failures++) {
        Packer packer = lane.packer(new Failing(items, failures + 1), plans);
        try {
          Chunk chunk = packer.pack(plans[0].shape(), indices, 0, ITEMS);
          assertNotNull(chunk);
          chunk.leave();
          packed = true;
        } catch (IllegalStateException e) {
          assertEquals("an item cannot be read", e.getMessage());
        }
        packer.close();
        assertEquals("failure " + failures, used, lane.stagingUsed());
      }
      assertTrue("while items are written, too", failures > 3 * ITEMS);
      held.release();
      // waits for uses that are left
      residency.close();
      lane.stop();
      lane.free();
    }
    assertEquals(0, driver.deviceBytes());
    driver.close();
  }

  private static WorkItem item(TestIndex index, SegmentView view, int k) {
    FixedBitSet accepted = new FixedBitSet(view.size());
    accepted.set(0, view.size() / 2);
    return Walks.item(view, index.vector(), k, WalkParameters.exact(8), accepted);
  }
}
