package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.lists.ListBatches;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests how many items a launch has room for. */
public class LaunchSlotTests extends LuceneTestCase {

  private static final int FIRST = 64;

  /** A launch is smaller than it might be while pinned memory is full, and not later. */
  public void testRoomIsWhatPinnedMemoryAllows() {
    SimulatedDriver driver =
        new SimulatedDriver(
            name ->
                (blocks, threads, shared, parameters) -> {
                  throw new AssertionError("nothing is launched");
                },
            16 << 20,
            random().nextBoolean());
    driver.bind();
    StagingPool staging =
        new StagingPool(driver, 8 << 20, new SessionHostMemory(HostMemoryAccount.UNLIMITED));
    try (ListBatches together = new ListBatches(driver, DeviceBudget.UNLIMITED)) {
      Kernels kernels = new Kernels(driver, Tuning.DEFAULT);
      LaunchSlot slot =
          new LaunchSlot(
              driver,
              kernels,
              together,
              staging,
              DeviceBudget.UNLIMITED,
              FIRST,
              new BatchCounters());
      try {
        assertEquals(FIRST, slot.room(FIRST));
        assertEquals(FIRST / 2, slot.room(FIRST / 2));
        List<StagingPool.Block> all = new ArrayList<>();
        for (StagingPool.Block block; (block = staging.allocate(4096)) != null; ) {
          all.add(block);
        }
        assertEquals(FIRST, slot.room(BatchOptions.MAX_BATCH));
        all.forEach(StagingPool.Block::free);
        assertEquals(BatchOptions.MAX_BATCH, slot.room(BatchOptions.MAX_BATCH));
        long used = staging.used();
        assertEquals(BatchOptions.MAX_BATCH, slot.room(BatchOptions.MAX_BATCH));
        assertEquals(used, staging.used());
      } finally {
        slot.free();
      }
      // also what was there before it grew
      assertEquals(0, staging.used());
    } finally {
      staging.free();
      driver.close();
    }
  }
}
