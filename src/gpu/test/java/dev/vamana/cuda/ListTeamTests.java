package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.FixedBitSet;

/**
 * Several blocks that search inverted lists for one item find exactly what one block finds, in
 * whatever order they make progress. The kernels' own sources run, on simulated threads.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class ListTeamTests extends LuceneTestCase {

  private static final int K = 10;

  // a block of many warps
  private static final int WAVES = 16;

  private static DeviceSegment segment(int size, int dimension, CodeKind codes) throws IOException {
    VectorSimilarityFunction similarity = VectorSimilarityFunction.values()[random().nextInt(4)];
    VectorEncoding encoding = VectorEncoding.values()[random().nextInt(2)];
    return DeviceSegment.of(
        createTempDir(),
        DeviceSegment.clustered(
            new Random(random().nextLong()), size, dimension, encoding, similarity),
        similarity,
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, codes),
        Workers.callingThread());
  }

  private static CodeKind codes() {
    return random().nextBoolean() ? CodeKind.RABITQ1 : CodeKind.PQ;
  }

  private static List<WorkItem> items(
      DeviceSegment segment, int count, int width, FixedBitSet accepted, long visitLimit) {
    SegmentView view = segment.view();
    List<WorkItem> items = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      QueryVector query = segment.vectors().get(random().nextInt(segment.vectors().size()));
      items.add(
          DeviceTestCase.item(
              view,
              query,
              Math.min(K, width),
              WalkParameters.exact(width),
              accepted,
              accepted == null ? view.size() : accepted.cardinality(),
              visitLimit,
              new int[0]));
    }
    return items;
  }

  private static List<WorkResult> search(
      DeviceSegment segment, List<WorkItem> items, Tuning tuning, boolean oneByOne)
      throws Exception {
    return DeviceTestCase.search(
        oneByOne ? SimtKernels.load() : SimtKernels.sideBySide(random().nextLong()),
        segment,
        items,
        Placement.EXACT,
        tuning);
  }

  /**
   * Compares teams with one block. A vector whose tail says that it may be a hit is scored unless
   * its head says that it is none; with a head this is asked with the limit that the wave began
   * with, so codes with tails may score a few more vectors in larger waves.
   */
  private static void compare(String what, DeviceSegment segment, List<WorkItem> items)
      throws Exception {
    CodeKind codes = segment.view().lists().shape().kind();
    boolean tails = codes.isRabitq() && codes.bits() > 1;
    Tuning tuning =
        Tuning.DEFAULT
            .withWarps(WAVES)
            .withTable(random().nextInt(3) == 0 ? Policy.TABLE_GLOBAL : null);
    List<WorkResult> alone = search(segment, items, tuning.withTeam(1), false);
    List<WorkResult> expected = new CpuExecutor(Workers.callingThread()).search(items);
    int ranks = 0;
    int same = 0;
    for (int i = 0; i < items.size(); i++) {
      assertEquals(what, expected.get(i).ordinals().length, alone.get(i).ordinals().length);
      for (int rank = 0; rank < alone.get(i).ordinals().length; rank++) {
        float score = expected.get(i).scores()[rank];
        float slack = 1e-5f * Math.max(1, Math.abs(score));
        ranks++;
        same += Math.abs(score - alone.get(i).scores()[rank]) <= slack ? 1 : 0;
      }
    }
    // a search whose last hit is as near as another vector may end a list earlier or later
    assertTrue(what + ": " + same + " of " + ranks, same >= ranks - K);
    for (int team : new int[] {2, 3 + random().nextInt(6)}) {
      for (boolean oneByOne : new boolean[] {false, true}) {
        List<WorkResult> together = search(segment, items, tuning.withTeam(team), oneByOne);
        for (int i = 0; i < items.size(); i++) {
          String which = what + ", team of " + team + ", one by one " + oneByOne + ", item " + i;
          WorkResult a = alone.get(i);
          WorkResult b = together.get(i);
          if (tails) {
            assertEquals(which, a.visited(), b.visited(), 1 + 0.05 * a.visited());
            assertEquals(which, a.ordinals().length, b.ordinals().length);
            continue;
          }
          assertArrayEquals(which, a.ordinals(), b.ordinals());
          assertArrayEquals(which, a.scores(), b.scores(), 0f);
          assertEquals(which, a.visited(), b.visited());
          assertEquals(which, a.complete(), b.complete());
        }
      }
    }
  }

  public void testEveryKindOfCodes() throws Exception {
    for (CodeKind codes : CodeKind.values()) {
      int dimension = TestUtil.nextInt(random(), 2, 100);
      try (DeviceSegment segment = segment(1_500, dimension, codes)) {
        compare(
            codes + ", dimension " + dimension,
            segment,
            items(segment, 2, 20, null, Long.MAX_VALUE));
      }
    }
  }

  public void testFiltersAndVisitLimits() throws Exception {
    int size = 4_000;
    try (DeviceSegment segment = segment(size, 16, codes())) {
      FixedBitSet accepted = new FixedBitSet(size);
      for (int i = 0; i < size; i++) {
        if (random().nextInt(2) == 0) {
          accepted.set(i);
        }
      }
      compare("half accepted", segment, items(segment, 2, 20, accepted, Long.MAX_VALUE));
      compare("visit limit", segment, items(segment, 2, 20, null, 1 + random().nextInt(300)));
    }
  }
}
