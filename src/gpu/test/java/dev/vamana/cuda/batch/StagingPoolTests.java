package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests which requests wait for memory, and which need not. */
public class StagingPoolTests extends LuceneTestCase {

  private static final long MEGABYTE = 1L << 20;

  public void testWhatNeverFitsIsNotWaitedFor() {
    SimulatedDriver driver = new SimulatedDriver(SimulatedKernels.NONE, 1 << 20, false);
    driver.bind();
    StagingPool pool =
        new StagingPool(driver, 8 * MEGABYTE, new SessionHostMemory(HostMemoryAccount.UNLIMITED));
    pool.allocate(8 * MEGABYTE).free();
    // it divides the only block of eight megabytes
    StagingPool.Block fixed = pool.allocateFixed(1024);
    StagingPool.Block used = random().nextBoolean() ? pool.allocate(3 * MEGABYTE) : null;
    GpuException e = expectThrows(GpuException.class, () -> pool.allocate(5 * MEGABYTE));
    assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
    assertEquals(
        "5242880 bytes do not fit staging memory, whose largest block has 4194304", e.getMessage());
    StagingPool.Block large = pool.allocate(4 * MEGABYTE);
    if (used != null) {
      assertNull("in use now", large);
      used.free();
      large = pool.allocate(4 * MEGABYTE);
    }
    assertNull("in use now", pool.allocate(4 * MEGABYTE));
    large.free();
    fixed.free();
    assertEquals(0, pool.used());
    pool.free();
    driver.close();
  }
}
