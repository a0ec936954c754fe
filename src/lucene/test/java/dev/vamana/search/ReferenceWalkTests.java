package dev.vamana.search;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/** Tests the rules of the walk that other executors are compared with, on hand-made graphs. */
public class ReferenceWalkTests extends SearchTestCase {

  /** 0 - 1 - 2 - ... - 9, at positions 0 to 9. */
  private static HandMadeSegment line() {
    float[] positions = new float[10];
    int[][] rows = new int[10][];
    for (int i = 0; i < 10; i++) {
      positions[i] = i;
      rows[i] = i == 0 ? new int[] {1} : i == 9 ? new int[] {8} : new int[] {i - 1, i + 1};
    }
    return new HandMadeSegment(positions, rows, 0);
  }

  private static WorkItem item(
      SegmentView segment, float position, int k, WalkParameters walk, int... accepted) {
    Bits bits = null;
    if (accepted.length > 0) {
      FixedBitSet set = new FixedBitSet(segment.size());
      for (int ordinal : accepted) {
        set.set(ordinal);
      }
      bits = set;
    }
    return item(
        segment,
        position,
        k,
        walk,
        bits,
        accepted.length > 0 ? accepted.length : segment.size(),
        Long.MAX_VALUE,
        () -> false);
  }

  private static WorkItem item(
      SegmentView segment,
      float position,
      int k,
      WalkParameters walk,
      Bits accepted,
      int acceptedCount,
      long visitLimit,
      BooleanSupplier cancelled,
      int... entryPoints) {
    QueryVector query = QueryVector.of(new float[] {position});
    return new WorkItem(
        segment, query, k, walk, accepted, acceptedCount, visitLimit, cancelled, entryPoints);
  }

  private static WorkResult walk(WorkItem item) throws IOException {
    return new ReferenceWalk(item).run();
  }

  public void testTiesGoToTheLowerOrdinal() throws IOException {
    // all but the medoid lie at the same place
    float[] positions = {3, 1, 1, 1, 1};
    int[][] rows = {{4, 2, 3, 1}, {}, {}, {}, {}};
    HandMadeSegment segment = new HandMadeSegment(positions, rows, 0);
    assertArrayEquals(
        new int[] {1, 2, 3, 4, 0}, walk(item(segment, 1, 5, WalkParameters.exact(5))).ordinals());
    assertArrayEquals(
        new int[] {1, 2}, walk(item(segment, 1, 2, WalkParameters.exact(2))).ordinals());
    // query in the middle: distances tie across both sides
    assertArrayEquals(
        new int[] {4, 5, 3, 6}, walk(item(line(), 4.5f, 4, WalkParameters.exact(10))).ordinals());
  }

  public void testParentsOfAStepAreExpandedTogether() throws IOException {
    // of the two children of 0, the nearer one leads to the target
    float[] positions = {10, 6, 7, 1, 8};
    int[][] rows = {{1, 2}, {3}, {4}, {}, {}};
    HandMadeSegment segment = new HandMadeSegment(positions, rows, 0);
    WorkResult single = walk(item(segment, 0, 1, WalkParameters.exact(1)));
    assertArrayEquals(new int[] {3}, single.ordinals());
    assertEquals("the farther child is never expanded", 4, single.visited());
    WalkParameters two = new WalkParameters(2, WalkParameters.Distances.EXACT, 2, 0);
    WorkResult both = walk(item(segment, 0, 1, two));
    assertArrayEquals(new int[] {3}, both.ordinals());
    assertEquals("both children are expanded in one step", 5, both.visited());
  }

  public void testVisitLimit() throws IOException {
    for (int limit = 1; limit < 9; limit++) {
      WorkResult result =
          walk(item(line(), 9, 10, WalkParameters.exact(10), null, 10, limit, () -> false));
      assertEquals(limit, result.visited());
      assertFalse(result.complete());
      assertEquals(limit, result.ordinals().length);
      // what was seen is what is given, best first: the last ordinals of the way
      assertEquals(limit - 1, result.ordinals()[0]);
    }
    WorkResult all = walk(item(line(), 9, 10, WalkParameters.exact(10), null, 10, 11, () -> false));
    assertTrue(all.complete());
    assertEquals(10, all.visited());
  }

  public void testRejectedNodesAreWalkedThrough() throws IOException {
    WorkItem item = item(line(), 9, 2, WalkParameters.exact(2), 3, 8);
    // 2 of 10 are accepted, so the beam is five times as wide
    assertEquals(10, item.effectiveBeamWidth());
    WorkResult result = walk(item);
    assertArrayEquals(new int[] {8, 3}, result.ordinals());
    assertTrue(result.complete());
  }

  public void testEntryPointsReachWhatTheMedoidDoesNot() throws IOException {
    float[] positions = {0, 1, 20, 21};
    int[][] rows = {{1}, {0}, {3}, {2}};
    HandMadeSegment segment = new HandMadeSegment(positions, rows, 0);
    assertArrayEquals(
        new int[] {1, 0}, walk(item(segment, 21, 2, WalkParameters.exact(4))).ordinals());
    int[] entryPoints = {2, 0, 2};
    WorkResult result =
        walk(item(segment, 21, 2, WalkParameters.exact(4), null, 4, 100, () -> false, entryPoints));
    assertArrayEquals(new int[] {3, 2}, result.ordinals());
    assertEquals(4, result.visited());
  }

  /** Without a filter both walks see the same nodes in the same order. */
  public void testCollectorWalkFindsTheSame() throws IOException {
    for (int round = 0; round < 200; round++) {
      int size = 1 + random().nextInt(60);
      float[] positions = new float[size];
      int[][] rows = new int[size][];
      for (int i = 0; i < size; i++) {
        // distinct positions, a random graph
        positions[i] = i + random().nextFloat() * 0.5f;
        rows[i] = random().ints(1 + random().nextInt(6), 0, size).toArray();
      }
      HandMadeSegment segment = new HandMadeSegment(positions, rows, random().nextInt(size));
      int k = 1 + random().nextInt(size);
      float target = random().nextFloat() * size;
      WalkParameters walk = WalkParameters.defaults(k);
      WorkResult expected = walk(item(segment, target, k, walk));
      KnnCollector collector = new TopKnnCollector(k, Integer.MAX_VALUE);
      new CollectorWalk(
              segment.scorer(QueryVector.of(new float[] {target})),
              null,
              segment.adjacency(),
              collector,
              null,
              walk.beamWidth())
          .run(new int[] {segment.medoid()}, CollectorWalk.TO_THE_END);
      TopDocs hits = collector.topDocs();
      int[] ordinals = new int[hits.scoreDocs.length];
      for (int i = 0; i < ordinals.length; i++) {
        ScoreDoc hit = hits.scoreDocs[i];
        ordinals[i] = hit.doc;
        assertEquals(expected.scores()[i], hit.score, 0);
      }
      assertArrayEquals(expected.ordinals(), ordinals);
      assertEquals(expected.visited(), collector.visitedCount());
    }
  }
}
