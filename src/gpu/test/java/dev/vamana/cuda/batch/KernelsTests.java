package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.kernel.WalkShape.Reads;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the choice of a launch's kernel. */
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
    return choose(tuning, subspaces, 1, items, 0);
  }

  private Kernels.Choice choose(Tuning tuning, int subspaces, int parents, int items, int others) {
    return choose(tuning, subspaces, parents, 20, items, others);
  }

  private Kernels.Choice choose(
      Tuning tuning, int subspaces, int parents, int beam, int items, int others) {
    Reads reads = subspaces > 0 ? Reads.CODES : Reads.FLOAT32;
    WalkShape shape = WalkShape.of(reads, 128, subspaces, beam, 32, parents, 0, false);
    ChunkSizes sizes = new ChunkSizes(beam, 32 * parents, 128, subspaces, 0, false);
    return new Kernels(driver, tuning).choose(shape, sizes, items, others);
  }

  /** The device has room for 2, 4, 8 and 16 blocks of 8, 4, 2 and 1 warps a multiprocessor. */
  public void testFewerWarpsForMoreItems() {
    int multiprocessors = driver.device().multiprocessors();
    int warps = 8;
    for (int items = 1; items <= 100 * multiprocessors; items += 1 + items / 10) {
      Kernels.Choice choice = choose(Tuning.DEFAULT, 0, items);
      assertTrue(items + ": " + choice, choice.threads() <= 32 * warps);
      assertTrue(items + ": " + choice, items > 2 * multiprocessors || choice.threads() == 256);
      warps = choice.threads() / 32;
      assertEquals("walk_exact_f32_w" + warps, choice.kernel().name());
      assertEquals(Math.min(items, 16 / warps * multiprocessors), choice.blocks());
    }
    assertEquals("twice the blocks make up for how long one warp takes", 1, warps);
  }

  public void testOneWarpMergesLongWorklists() {
    for (int items : new int[] {1, 10_000}) {
      assertEquals(32, choose(Tuning.DEFAULT, 16, 1, 256, items, 0).threads());
      assertEquals(32, choose(Tuning.DEFAULT, 16, 4, 1_024, items, 0).threads());
    }
    // of many items, shorter worklists may have one warp for another reason
    assertNotEquals(32, choose(Tuning.DEFAULT, 16, 1, 255, 1, 0).threads());
    assertNotEquals(32, choose(Tuning.DEFAULT, 16, 4, 1_023, 1, 0).threads());
    assertNotEquals(32, choose(Tuning.DEFAULT, 0, 1, 256, 1, 0).threads());
  }

  public void testItemsInFlightTakeRoom() {
    int multiprocessors = driver.device().multiprocessors();
    for (int items : new int[] {1, multiprocessors}) {
      assertEquals(256, choose(Tuning.DEFAULT, 0, 1, items, 0).threads());
      assertEquals(32, choose(Tuning.DEFAULT, 0, 1, items, 100 * multiprocessors).threads());
    }
  }

  /** Fewer warps leave no room for more blocks if shared memory does not. */
  public void testManyWarpsWhereBlocksTakeMuchMemory() {
    int items = 100 * driver.device().multiprocessors();
    Kernels.Choice choice = choose(Tuning.DEFAULT, 0, 1, 10_000, items, 0);
    assertTrue(choice.sharedBytes() > 80_000);
    assertEquals("walk_exact_f32_w8", choice.kernel().name());
  }

  public void testMostWarpsForFewItemsWithManyNeighbours() {
    int multiprocessors = driver.device().multiprocessors();
    assertEquals(256, choose(Tuning.DEFAULT, 0, 2, 1, 0).threads());
    assertEquals(512, choose(Tuning.DEFAULT, 0, 3, 1, 0).threads());
    assertEquals(512, choose(Tuning.DEFAULT, 16, 4, multiprocessors, 0).threads());
    assertEquals(256, choose(Tuning.DEFAULT, 16, 4, multiprocessors + 1, 0).threads());
    assertEquals(256, choose(Tuning.DEFAULT, 16, 4, 1, multiprocessors).threads());
    assertEquals(512, choose(Tuning.DEFAULT, 0, 4, 128, 1, 0).threads());
    assertEquals(256, choose(Tuning.DEFAULT, 0, 4, 129, 1, 0).threads());
  }

  /** A launch takes the shared memory of its own items, which may be less than the shape's. */
  public void testSharedMemoryOfTheItems() {
    Kernels.Choice choice = choose(Tuning.DEFAULT.withTable(Policy.TABLE_HALF), 32, 5);
    assertEquals(
        SharedLayout.of(Policy.TABLE_HALF, 20, 32, choice.slots(), 128, 32).bytes(),
        choice.sharedBytes());
  }

  public void testForcedWarps() {
    for (int warps : Tuning.WARPS) {
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
      ChunkSizes sizes = new ChunkSizes(20, 32, 128, 0, 0, false);
      expectThrows(
          GpuException.class, () -> new Kernels(empty, Tuning.DEFAULT).choose(shape, sizes, 1, 0));
    } finally {
      empty.close();
    }
  }
}
