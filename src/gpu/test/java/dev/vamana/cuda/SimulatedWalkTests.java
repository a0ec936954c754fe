package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/**
 * Walks in blocks of several warps, whose threads are simulated and run in a random order, find
 * what blocks of one warp find, and no access of shared memory races with another.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class SimulatedWalkTests extends LuceneTestCase {

  private static final int K = 10;
  private static final int QUERIES = 3;

  private static final List<Integer> WARPS = List.of(1, 2, 4, 8, 16);

  public void testFloats() throws Exception {
    compare(Placement.EXACT);
  }

  public void testBytes() throws Exception {
    compare(Placement.EXACT_INT8);
  }

  public void testCodes() throws Exception {
    compare(Placement.IN_MEMORY);
  }

  private static void compare(Placement placement) throws Exception {
    int size = TestUtil.nextInt(random(), 1_000, 3_000);
    VectorSimilarityFunction similarity = VectorSimilarityFunction.values()[random().nextInt(4)];
    try (DeviceSegment segment =
        DeviceSegment.of(
            createTempDir(),
            DeviceSegment.clustered(
                new Random(random().nextLong()),
                size,
                TestUtil.nextInt(random(), 8, 40),
                VectorEncoding.values()[random().nextInt(2)],
                similarity),
            similarity,
            VamanaParameters.DEFAULT.withThresholds(0, 0),
            Workers.callingThread())) {
      int launches = 0;
      for (int warps : WARPS) {
        int beam =
            TestUtil.nextInt(random(), K, RandomPicks.randomFrom(random(), List.of(24, 60, 120)));
        WalkParameters walk =
            new WalkParameters(
                beam,
                (placement.precision() == Precision.PQ)
                    ? WalkParameters.Distances.QUANTIZED
                    : WalkParameters.Distances.EXACT,
                RandomPicks.randomFrom(random(), List.of(1, 2, 4)),
                0);
        List<WorkItem> items = new ArrayList<>();
        for (int i = 0; i < QUERIES; i++) {
          items.add(
              DeviceTestCase.item(
                  segment.view(),
                  segment.vectors().get(random().nextInt(size)),
                  K,
                  walk,
                  null,
                  size,
                  Long.MAX_VALUE,
                  new int[0]));
        }
        // a small set forgets nodes, so that keys are repeated
        Tuning tuning =
            Tuning.DEFAULT
                .withWarps(warps)
                .withVisitedSlots(RandomPicks.randomFrom(random(), List.of(0, 64, 1024)));
        String what = placement + ", " + warps + " warps, " + walk + ", " + tuning;
        List<WorkResult> expected =
            DeviceTestCase.search(
                SimtKernels.load(), segment, items, placement, tuning.withWarps(1));
        SimtKernels threads = SimtKernels.sideBySide(random().nextLong());
        List<WorkResult> found = DeviceTestCase.search(threads, segment, items, placement, tuning);
        launches += threads.launches();
        for (int i = 0; i < QUERIES; i++) {
          assertArrayEquals(what, expected.get(i).scores(), found.get(i).scores(), 1e-5f);
        }
      }
      // a wide walk over few vectors may be planned as a scan
      assertTrue("no walk by simulated threads: " + placement, launches > 0);
    }
  }
}
