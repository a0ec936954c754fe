package dev.vamana.cuda.kernel;

import dev.vamana.cuda.kernel.WalkShape.Reads;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests plans on both sides of every boundary, and that all supported shapes fit. */
public class SharedMemoryPlanTests extends LuceneTestCase {

  private static final int[] DEVICES = {101_376, 166_912, 232_448};
  private static final int HOPPER = 232_448;

  private static WalkShape shape(
      Reads reads, int dimension, int subspaces, int beam, int stride, int parents) {
    return WalkShape.of(reads, dimension, subspaces, beam, stride, parents, 0, false);
  }

  private static int bytes(WalkShape shape, Policy policy, int slots) {
    return SharedLayout.of(
            policy, shape.beam(), shape.fresh(), slots, shape.dimension(), shape.subspaces())
        .bytes();
  }

  private static SharedMemoryPlan plan(WalkShape shape, int device) {
    return SharedMemoryPlan.of(shape, device, Tuning.DEFAULT);
  }

  /** The largest of everything fits a device of compute capability 9.0. */
  public void testLimitsFit() {
    for (Reads reads : Reads.values()) {
      WalkShape shape =
          shape(
              reads,
              Limits.MAX_DIMENSION,
              Limits.MAX_SUBSPACES,
              Limits.MAX_BEAM_WIDTH,
              Limits.MAX_DEGREE,
              Limits.MAX_PARENTS);
      assertNotNull(plan(shape, HOPPER));
    }
  }

  public void testWhatNoKernelTakes() {
    assertNull(shape(Reads.FLOAT32, 4097, 0, 10, 64, 1));
    assertNotNull(shape(Reads.FLOAT32, 4096, 0, 10, 64, 1));
    assertNull(shape(Reads.CODES, 512, 257, 10, 64, 1));
    assertNotNull(shape(Reads.CODES, 512, 256, 10, 64, 1));
    assertNull(shape(Reads.CODES, 512, 0, 10, 64, 1));
    assertNull(shape(Reads.FLOAT32, 16, 0, 10_001, 64, 1));
    assertNotNull(shape(Reads.FLOAT32, 16, 0, 10_000, 64, 1));
    assertNull(shape(Reads.FLOAT32, 16, 0, 10, 132, 1));
    assertNotNull(shape(Reads.FLOAT32, 16, 0, 10, 128, 1));
    assertNull(shape(Reads.FLOAT32, 16, 0, 10, 64, 65));
    assertNotNull(shape(Reads.FLOAT32, 16, 0, 10, 64, 64));
    int most = WalkShape.MAX_FRESH;
    assertNotNull(WalkShape.of(Reads.BYTE, 16, 0, 10, 64, 1, most - 1, false));
    assertNull(WalkShape.of(Reads.BYTE, 16, 0, 10, 64, 1, most, false));
  }

  public void testShapesAreRoundedUp() {
    WalkShape shape = shape(Reads.CODES, 100, 25, 65, 60, 3);
    assertEquals(new WalkShape(Reads.CODES, 128, 256, 112, 25, false), shape);
    assertEquals(shape, shape(Reads.CODES, 97, 25, 128, 64, 4));
    assertEquals(64, shape(Reads.FLOAT32, 97, 25, 1, 4, 1).beam());
    assertEquals(0, shape(Reads.FLOAT32, 97, 25, 1, 4, 1).subspaces());
    assertEquals(10_000, shape(Reads.FLOAT32, 97, 25, 8193, 4, 1).beam());
  }

  /** Walking up through m, the path changes only where the rules say that it has to. */
  public void testBoundariesOfTables() {
    int changes = 0;
    for (int device : DEVICES) {
      for (int beam : new int[] {10, 64, 65, 128, 512, 4096, 4097, 8192, 8193, 10_000}) {
        for (int dimension : new int[] {256, 1024, 4096}) {
          for (int stride : new int[] {16, 64, 128}) {
            changes += assertTables(device, dimension, beam, stride);
          }
        }
      }
    }
    assertTrue("boundaries: " + changes, changes > 100);
  }

  private static int assertTables(int device, int dimension, int beam, int stride) {
    List<Policy> path = new ArrayList<>();
    Policy last = null;
    for (int subspaces = 1; subspaces <= Limits.MAX_SUBSPACES; subspaces++) {
      WalkShape shape = shape(Reads.CODES, dimension, subspaces, beam, stride, 1);
      SharedMemoryPlan plan = plan(shape, device);
      if (plan == null) {
        assertTrue(bytes(shape, Policy.TABLE_GLOBAL, SharedMemoryPlan.MIN_SLOTS) > device);
        continue;
      }
      assertTrue(plan.sharedBytes() <= device);
      assertEquals(bytes(shape, plan.policy(), plan.visitedSlots()), plan.sharedBytes());
      assertEquals(1, Integer.bitCount(plan.visitedSlots()));
      int wanted = SharedMemoryPlan.wantedSlots(shape);
      assertTrue(plan.visitedSlots() <= wanted);
      int enough = Math.max(SharedMemoryPlan.MIN_SLOTS, wanted / 4);
      boolean halfFits = bytes(shape, Policy.TABLE_HALF, enough) <= device;
      switch (plan.policy()) {
        case TABLE_FLOAT -> {
          assertEquals(wanted, plan.visitedSlots());
          SharedMemoryPlan half =
              SharedMemoryPlan.of(shape, device, Tuning.DEFAULT.withTable(Policy.TABLE_HALF));
          assertTrue(half.blocks(device) < 1.25 * plan.blocks(device));
        }
        case TABLE_HALF -> {
          assertTrue(halfFits);
          assertTrue(plan.visitedSlots() >= enough);
        }
        case TABLE_GLOBAL -> assertFalse("half would fit: " + shape, halfFits);
        default -> fail(plan.toString());
      }
      if (plan.visitedSlots() < wanted) {
        assertTrue(bytes(shape, plan.policy(), 2 * plan.visitedSlots()) > device);
      }
      if (plan.policy() != last) {
        path.add(plan.policy());
        last = plan.policy();
      }
    }
    int half = path.indexOf(Policy.TABLE_HALF);
    int global = path.indexOf(Policy.TABLE_GLOBAL);
    assertTrue(path.toString(), global < 0 || global == path.size() - 1);
    assertTrue(path.toString(), half < 0 || global < 0 || half < global);
    return Math.max(0, path.size() - 1);
  }

  public void testForcedChoices() {
    WalkShape shape = shape(Reads.CODES, 256, 64, 100, 64, 1);
    for (Policy table : new Policy[] {Policy.TABLE_HALF, Policy.TABLE_FLOAT, Policy.TABLE_GLOBAL}) {
      assertEquals(
          table, SharedMemoryPlan.of(shape, HOPPER, Tuning.DEFAULT.withTable(table)).policy());
    }
    assertEquals(
        512,
        SharedMemoryPlan.of(shape, HOPPER, Tuning.DEFAULT.withVisitedSlots(512)).visitedSlots());
    WalkShape large = shape(Reads.CODES, 256, 256, 100, 64, 1);
    assertEquals(
        "single precision where there is room for it",
        Policy.TABLE_GLOBAL,
        SharedMemoryPlan.of(large, HOPPER, Tuning.DEFAULT.withTable(Policy.TABLE_FLOAT)).policy());
  }
}
