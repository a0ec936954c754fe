package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.QueryVector;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Walks that a visit limit ends do the same each time. Their visited sets are so small that they
 * forget nodes all the time, and a forgotten node is counted again.
 */
public class LimitedWalkTests extends DeviceTestCase {

  private static final int SIZE = 3_000;
  private static final int QUERIES = 5;
  private static final int REPEATS = 40;
  private static final int VISITED_SLOTS = 64;

  public void testLimitedWalksDoTheSameEachTime() throws Exception {
    try (DeviceSegment segment = smallSegment(SIZE)) {
      for (Placement placement : Placement.values()) {
        int warps = RandomPicks.randomFrom(random(), Tuning.WARPS);
        try (Gpu gpu =
            open(placement, Tuning.DEFAULT.withWarps(warps).withVisitedSlots(VISITED_SLOTS))) {
          serve(gpu, segment.view());
          for (int parents : new int[] {1, 4}) {
            assertSameEachTime(gpu, segment, placement, parents);
          }
          gpu.executor().closing(segment.view());
        }
      }
    }
  }

  private static void assertSameEachTime(
      Gpu gpu, DeviceSegment segment, Placement placement, int parents) throws Exception {
    WalkParameters walk =
        new WalkParameters(
            100,
            QUANTIZED_WALKS.contains(placement)
                ? WalkParameters.Distances.QUANTIZED
                : WalkParameters.Distances.EXACT,
            parents,
            0);
    Gpu.Counts before = gpu.counts();
    boolean limited = false;
    for (int query = 0; query < QUERIES; query++) {
      QueryVector vector = segment.vectors().get(random().nextInt(SIZE));
      long limit = 200 + random().nextInt(600);
      List<WorkItem> items = new ArrayList<>();
      for (int i = 0; i < REPEATS; i++) {
        items.add(item(segment.view(), vector, 10, walk, null, SIZE, limit, new int[0]));
      }
      List<WorkResult> results = gpu.executor().search(items);
      WorkResult first = results.get(0);
      limited |= first.complete() == false;
      for (WorkResult result : results) {
        String what = placement + ", " + parents + " parents, limit " + limit;
        assertEquals(what, Arrays.toString(first.ordinals()), Arrays.toString(result.ordinals()));
        assertArrayEquals(what, first.scores(), result.scores(), 0);
        assertEquals(what, first.visited(), result.visited());
        assertEquals(what, first.complete(), result.complete());
      }
    }
    assertTrue("no walk reached its limit: " + placement, limited);
    assertNoFallback(gpu, before);
  }
}
