package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Reads;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkShape;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Which kernel a launch takes. */
public class KernelsTests extends LuceneTestCase {

  private SimulatedDriver driver;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    driver =
        new SimulatedDriver(name -> (blocks, threads, shared, parameters) -> {}, 1 << 20, false);
    driver.bind();
  }

  @Override
  public void tearDown() throws Exception {
    driver.close();
    super.tearDown();
  }

  private Kernels.Choice choose(Tuning tuning, int subspaces, int items) {
    return choose(tuning, subspaces, 1, items);
  }

  private Kernels.Choice choose(Tuning tuning, int subspaces, int parents, int items) {
    Reads reads = subspaces > 0 ? Reads.CODES : Reads.FLOAT32;
    WalkShape shape = WalkShape.of(reads, 128, subspaces, 20, 32, parents, 0, false);
    ChunkSizes sizes = new ChunkSizes(20, 32 * parents, 128, subspaces, 0);
    return new Kernels(driver, tuning).choose(shape, sizes, items);
  }

  public void testBlocksOfOneWarpForBatchesThatFillTheDevice() {
    int fills = driver.device().multiprocessors() * 16;
    Kernels.Choice many = choose(Tuning.DEFAULT.withVisitedSlots(256), 0, fills);
    assertEquals("walk_exact_f32_w1", many.kernel().name());
    assertEquals(32, many.threads());
    assertTrue(many.blocks() <= fills);
    Kernels.Choice fewer = choose(Tuning.DEFAULT.withVisitedSlots(256), 0, fills - 1);
    assertEquals("walk_exact_f32_w4", fewer.kernel().name());
  }

  public void testManyWarpsForFewItems() {
    int multiprocessors = driver.device().multiprocessors();
    assertEquals(256, choose(Tuning.DEFAULT, 0, 1).threads());
    assertEquals(1, choose(Tuning.DEFAULT, 0, 1).blocks());
    assertEquals(256, choose(Tuning.DEFAULT, 0, multiprocessors).threads());
    assertEquals(128, choose(Tuning.DEFAULT, 0, multiprocessors + 1).threads());
  }

  public void testMostWarpsForFewItemsWithManyNeighbours() {
    int multiprocessors = driver.device().multiprocessors();
    assertEquals(256, choose(Tuning.DEFAULT, 0, 2, 1).threads());
    assertEquals(512, choose(Tuning.DEFAULT, 0, 3, 1).threads());
    assertEquals(512, choose(Tuning.DEFAULT, 16, 4, multiprocessors).threads());
    assertEquals(128, choose(Tuning.DEFAULT, 16, 4, multiprocessors + 1).threads());
  }

  /** A launch takes the shared memory of its own items, which may be less than the shape's. */
  public void testSharedMemoryOfTheItems() {
    Kernels.Choice choice = choose(Tuning.DEFAULT.withTable(Policy.TABLE_HALF), 32, 5);
    assertEquals(
        SharedLayout.of(Policy.TABLE_HALF, 20, 32, choice.slots(), 128, 32).bytes(),
        choice.sharedBytes());
  }

  public void testForcedWarps() {
    for (int warps : new int[] {1, 4, 8, 16}) {
      Kernels.Choice choice = choose(Tuning.DEFAULT.withWarps(warps), 16, 1000);
      assertTrue(choice.kernel().name().endsWith("_w" + warps));
      assertEquals(32 * warps, choice.threads());
    }
  }

  public void testKernelsThatAreMissing() {
    SimulatedDriver empty = new SimulatedDriver(name -> null, 1 << 20, false);
    empty.bind();
    try {
      WalkShape shape = WalkShape.of(Reads.BYTE, 128, 0, 20, 32, 1, 0, false);
      ChunkSizes sizes = new ChunkSizes(20, 32, 128, 0, 0);
      expectThrows(
          GpuException.class, () -> new Kernels(empty, Tuning.DEFAULT).choose(shape, sizes, 1));
    } finally {
      empty.close();
    }
  }
}
