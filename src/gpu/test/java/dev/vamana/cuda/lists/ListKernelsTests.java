package dev.vamana.cuda.lists;

import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.ListCodes;
import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.pq.SubspaceLayout;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the choice of the kernel that searches inverted lists. */
public class ListKernelsTests extends LuceneTestCase {

  private static final int LISTS = 1_300;
  private static final int WIDTH = 20;

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

  private String choose(Tuning tuning, int dimension, boolean quantized, int items) {
    ListSearchShape shape = ListSearchShape.of(false, quantized, WIDTH, dimension);
    int subspaces = quantized ? SubspaceLayout.defaultSubspaces(dimension) : 0;
    ChunkSizes sizes = new ChunkSizes(WIDTH, 0, dimension, subspaces, 0, LISTS, false);
    ListKernels.Choice choice = new ListKernels(driver).choose(shape, sizes, tuning, items, 0);
    assertTrue(choice.memory().sharedBytes() <= driver.device().sharedBytesPerBlock());
    return choice.kernel().name();
  }

  private String choose(int dimension, boolean quantized, int items) {
    return choose(Tuning.DEFAULT, dimension, quantized, items);
  }

  private static String name(ListCodes codes, int warps) {
    return ListKernels.name(false, codes, warps);
  }

  public void testManyItemsHaveFewWarps() {
    int many = 10 * driver.device().multiprocessors();
    assertEquals(name(ListCodes.BITS, 4), choose(128, false, many));
    assertEquals(name(ListCodes.BITS, 24), choose(128, false, 1));
    assertEquals(name(ListCodes.TABLE, 4), choose(128, true, many));
    assertEquals(name(ListCodes.TABLE, 24), choose(128, true, 1));
  }

  /** The table of 256 subspaces takes more than half of a multiprocessor's shared memory. */
  public void testALargeTableHasManyWarps() {
    int many = 10 * driver.device().multiprocessors();
    assertEquals(name(ListCodes.TABLE, 24), choose(2_048, true, many));
    assertEquals(name(ListCodes.TABLE, 4), choose(Tuning.DEFAULT.withWarps(4), 2_048, true, many));
    assertEquals(name(ListCodes.BITS, 4), choose(2_048, false, many));
  }

  /** A multiprocessor has room for two tables of 128 subspaces. */
  public void testTwoTablesHaveEightWarpsEach() {
    int many = 10 * driver.device().multiprocessors();
    assertEquals(name(ListCodes.TABLE, 8), choose(1_024, true, many));
    assertEquals(name(ListCodes.TABLE, 24), choose(1_024, true, 1));
    assertEquals(name(ListCodes.BITS, 4), choose(1_024, false, many));
  }

  public void testATableThatDoesNotFit() {
    driver.sharedBytesPerBlock(64 << 10);
    int many = 10 * driver.device().multiprocessors();
    assertEquals(name(ListCodes.TABLE, 4), choose(384, true, many));
    assertEquals(name(ListCodes.TABLE_GLOBAL, 4), choose(1_024, true, many));
  }

  /** Items that leave multiprocessors idle have several blocks each. */
  public void testTeams() {
    ListSearchShape shape = ListSearchShape.of(false, false, WIDTH, 128);
    ChunkSizes sizes = new ChunkSizes(WIDTH, 0, 128, 0, 0, LISTS, false);
    ListKernels kernels = new ListKernels(driver);
    int all = driver.device().multiprocessors();
    for (int items : new int[] {1, 2, all / 2, all / 2 + 1, all, 10 * all}) {
      int team = kernels.choose(shape, sizes, Tuning.DEFAULT, items, 0).team();
      assertEquals(Math.max(1, Math.min(16, all / items)), team);
      assertTrue(team == 1 || items * team <= all);
    }
    assertEquals(1, kernels.choose(shape, sizes, Tuning.DEFAULT, 1, all).team());
    assertEquals(3, kernels.choose(shape, sizes, Tuning.DEFAULT.withTeam(3), 1, 0).team());
  }

  public void testTuning() {
    int items = 1 + random().nextInt(10_000);
    for (int warps : ListKernels.tuned(ListCodes.TABLE)) {
      Tuning tuning = Tuning.DEFAULT.withWarps(warps);
      int own = ListKernels.warps(warps, ListCodes.TABLE);
      assertEquals(name(ListCodes.TABLE, own), choose(tuning, 128, true, items));
      Tuning global = tuning.withTable(Policy.TABLE_GLOBAL);
      int other = ListKernels.warps(warps, ListCodes.TABLE_GLOBAL);
      assertEquals(name(ListCodes.TABLE_GLOBAL, other), choose(global, 128, true, items));
      assertEquals(name(ListCodes.BITS, other), choose(global, 128, false, items));
    }
  }
}
