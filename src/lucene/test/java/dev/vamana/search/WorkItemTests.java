package dev.vamana.search;

import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

public class WorkItemTests extends LuceneTestCase {

  /** A line of nodes, each joined to its neighbours. */
  private static WorkItem item(int size, int beam, long visitLimit) {
    float[] positions = new float[size];
    int[][] rows = new int[size][];
    for (int i = 0; i < size; i++) {
      positions[i] = i;
      rows[i] =
          i == 0 ? new int[] {1} : i == size - 1 ? new int[] {i - 1} : new int[] {i - 1, i + 1};
    }
    return new WorkItem(
        new HandMadeSegment(positions, rows, 0),
        QueryVector.of(new float[] {0}),
        1,
        WalkParameters.exact(beam),
        null,
        size,
        visitLimit,
        () -> false,
        new int[0]);
  }

  /** A limit that a walk may well reach is kept, since it has to be counted exactly. */
  public void testLimitsWithinReachStay() {
    int beam = TestUtil.nextInt(random(), 1, 500);
    WorkItem any = item(1_000 + random().nextInt(5_000), beam, Long.MAX_VALUE);
    double expected = CpuExecutor.expectedVisits(any);
    long limit =
        random().nextBoolean()
            ? random().nextInt(1_024)
            : (long) (expected * random().nextDouble());
    assertEquals(limit, item(any.segment().size(), beam, limit).limitWithinReach());
  }

  public void testLimitsOutOfReachAreNone() {
    int beam = TestUtil.nextInt(random(), 1, 500);
    WorkItem any = item(1_000 + random().nextInt(5_000), beam, Long.MAX_VALUE);
    assertEquals(Long.MAX_VALUE, any.limitWithinReach());
    long limit = 1_025 + (long) (2 * CpuExecutor.expectedVisits(any)) + random().nextInt(1_000_000);
    assertEquals(Long.MAX_VALUE, item(any.segment().size(), beam, limit).limitWithinReach());
  }
}
