package dev.vamana.cuda.kernel;

import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WalkParameters.Distances;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.FixedBitSet;

/** Compares the walk kernels, run by simulated threads, with the walk of the CPU executor. */
public class WalkTests extends KernelTestCase {

  private static final VectorSimilarityFunction[] WITHOUT_ROUNDING = {
    VectorSimilarityFunction.EUCLIDEAN,
    VectorSimilarityFunction.DOT_PRODUCT,
    VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT
  };

  private static Policy randomPolicy() {
    return Policy.values()[random().nextInt(Policy.values().length)];
  }

  private static boolean fits(Policy policy, VectorEncoding encoding) {
    return policy.quantized() || policy == Policy.EXACT_BYTE || encoding == VectorEncoding.FLOAT32;
  }

  /** Vectors whose distances are integers. */
  private static GeneratedSegment segment(Policy policy) throws IOException {
    VectorEncoding encoding;
    do {
      encoding = VectorEncoding.values()[random().nextInt(2)];
    } while (fits(policy, encoding) == false);
    return new GeneratedSegment(
        random(),
        WITHOUT_ROUNDING[random().nextInt(WITHOUT_ROUNDING.length)],
        encoding,
        true,
        TestUtil.nextInt(random(), 50, 1000),
        TestUtil.nextInt(random(), 1, 70));
  }

  private static WalkParameters randomWalk(Policy policy) {
    int beam = 1 + random().nextInt(100);
    int parents = random().nextBoolean() ? 1 : 1 + random().nextInt(8);
    int rerank = random().nextInt(3) - 1;
    return new WalkParameters(
        beam,
        policy.quantized() ? Distances.QUANTIZED : Distances.EXACT,
        parents,
        rerank > 0 ? 1 + random().nextInt(60) : policy.quantized() ? rerank : 0);
  }

  private static WorkItem randomItem(GeneratedSegment segment, Policy policy) {
    FixedBitSet accepted = null;
    int count = segment.size();
    if (random().nextBoolean()) {
      accepted = new FixedBitSet(segment.size());
      for (int i = 0; i < segment.size(); i++) {
        if (random().nextInt(3) > 0) {
          accepted.set(i);
        }
      }
      count = accepted.cardinality();
    }
    int[] entryPoints = random().ints(random().nextInt(4), 0, segment.size()).toArray();
    long visitLimit =
        random().nextInt(4) == 0 ? 1 + random().nextInt(segment.size()) : Long.MAX_VALUE;
    return new WorkItem(
        segment,
        segment.query(random()),
        1 + random().nextInt(30),
        randomWalk(policy),
        accepted,
        count,
        visitLimit,
        () -> false,
        entryPoints);
  }

  /** The CPU's answer, or null if it was scanned after all. */
  private static WorkResult expected(WorkItem item, HostWalk.Hits actual) throws IOException {
    if (CpuExecutor.plansScan(item)) {
      return null;
    }
    boolean complete = (actual.flags() & ResultLayout.FLAG_COMPLETE) != 0;
    WorkResult walked =
        new WorkResult(actual.ordinals(), actual.scores(), actual.visited(), complete);
    return CpuExecutor.missesHits(item, walked) ? null : CpuExecutor.search(item);
  }

  /** Whether no two warps add the same node to the visited set at once. */
  private static boolean countsEachOnce(WorkItem item, int warps) {
    return warps == 1 || item.walk().parents() == 1;
  }

  private static void assertVisited(
      String message, WorkItem item, int warps, long expected, long actual) {
    if (countsEachOnce(item, warps)) {
      assertEquals(message, expected, actual);
    } else {
      assertTrue(message + ": " + actual + " of " + expected, actual >= expected);
    }
  }

  private static int randomWarps() {
    return Tuning.WARPS.get(random().nextInt(Tuning.WARPS.size()));
  }

  /** All policies, similarities, filters, entry points, visit limits and re-rank depths. */
  public void testAnswersAreTheCpusToTheLastBit() throws IOException {
    int compared = 0;
    // some items are scanned, as many as happen to be
    for (int round = 0; compared < 250; round++) {
      assertTrue("only " + compared + " of 500 launches", round < 500);
      Policy policy = randomPolicy();
      GeneratedSegment segment = segment(policy);
      try (HostWalk launch = new HostWalk(library, policy)) {
        int warps = randomWarps();
        List<WorkItem> items = new ArrayList<>();
        for (int i = 0, count = random().nextBoolean() ? 1 : 7; i < count; i++) {
          WorkItem item = randomItem(segment, policy);
          items.add(countsEachOnce(item, warps) ? item : withoutLimit(item));
          launch.add(items.get(i));
        }
        List<HostWalk.Hits> hits = launch.run(warps);
        for (int i = 0; i < hits.size(); i++) {
          HostWalk.Hits actual = hits.get(i);
          WorkResult expected = expected(items.get(i), actual);
          if (expected != null) {
            String message = policy + " " + segment.similarity() + " " + items.get(i).walk();
            assertArrayEquals(message, expected.ordinals(), actual.ordinals());
            assertArrayEquals(message, expected.scores(), actual.scores(), 0);
            assertVisited(message, items.get(i), warps, expected.visited(), actual.visited());
            assertEquals(expected.complete() ? ResultLayout.FLAG_COMPLETE : 0, actual.flags());
            compared++;
          }
        }
      }
    }
  }

  /**
   * Vectors whose sums are rounded, and cosines, may end in another order where they nearly tie.
   */
  public void testRoundedDistancesSeldomChangeAnAnswer() throws IOException {
    for (Policy policy : Policy.values()) {
      int same = 0;
      int all = 0;
      for (int round = 0; round < 30; round++) {
        VectorSimilarityFunction similarity =
            VectorSimilarityFunction.values()[random().nextInt(4)];
        boolean bytes = policy == Policy.EXACT_BYTE;
        GeneratedSegment segment =
            new GeneratedSegment(
                random(),
                similarity,
                bytes ? VectorEncoding.BYTE : VectorEncoding.FLOAT32,
                false,
                1500,
                TestUtil.nextInt(random(), 4, 80));
        int k = 10;
        WalkParameters walk =
            new WalkParameters(
                40, policy.quantized() ? Distances.QUANTIZED : Distances.EXACT, 1, 0);
        WorkItem item =
            new WorkItem(
                segment,
                segment.query(random()),
                k,
                walk,
                null,
                segment.size(),
                Long.MAX_VALUE,
                () -> false,
                new int[0]);
        try (HostWalk launch = new HostWalk(library, policy).add(item)) {
          HostWalk.Hits actual = launch.run(randomWarps()).get(0);
          WorkResult expected = CpuExecutor.search(item);
          assertEquals(k, actual.ordinals().length);
          for (int i = 0; i < k; i++) {
            all++;
            if (expected.ordinals()[i] == actual.ordinals()[i]) {
              same++;
              float score = expected.scores()[i];
              assertEquals(score, actual.scores()[i], 1e-5f * Math.max(1, Math.abs(score)) * 4);
            }
          }
        }
      }
      // random graphs lead astray where a single comparison comes out differently
      double least = policy == Policy.EXACT_F16 || policy == Policy.TABLE_HALF ? 0.9 : 0.98;
      assertTrue(policy + ": " + same + " of " + all, same >= least * all);
    }
  }

  /** A node that is forgotten and met again changes the count of distances, not the answer. */
  public void testForgettingVisitedNodesChangesNoAnswer() throws IOException {
    int forgotten = 0;
    for (int round = 0; round < 100; round++) {
      Policy policy = randomPolicy();
      GeneratedSegment segment = segment(policy);
      WorkItem item = withoutLimit(randomItem(segment, policy));
      try (HostWalk remembering = new HostWalk(library, policy).add(item);
          HostWalk forgetting = new HostWalk(library, policy).add(item)) {
        forgetting.walk().set("visited_slots", 4 << random().nextInt(6));
        HostWalk.Hits expected = remembering.run(1).get(0);
        HostWalk.Hits actual = forgetting.run(1).get(0);
        assertArrayEquals(expected.ordinals(), actual.ordinals());
        assertArrayEquals(expected.scores(), actual.scores(), 0);
        assertEquals(expected.iterations(), actual.iterations());
        assertTrue(actual.visited() >= expected.visited());
        forgotten += actual.visited() - expected.visited();
      }
    }
    assertTrue(forgotten > 0);
  }

  private static WorkItem withoutLimit(WorkItem item) {
    return withoutLimit(item, item.entryPoints());
  }

  private static WorkItem withoutLimit(WorkItem item, int[] entryPoints) {
    return new WorkItem(
        item.segment(),
        item.query(),
        item.k(),
        item.walk(),
        item.acceptedOrdinals(),
        item.acceptedCount(),
        Long.MAX_VALUE,
        item.cancelled(),
        entryPoints);
  }

  /** Without raw vectors the kernel gives the nodes that the caller re-ranks. */
  public void testCandidatesForTheCallerToRerank() throws IOException {
    for (int round = 0; round < 50; round++) {
      Policy policy = random().nextBoolean() ? Policy.TABLE_FLOAT : Policy.EXACT_F16;
      GeneratedSegment segment = segment(policy);
      WorkItem item = withoutLimit(randomItem(segment, policy));
      if (item.walk().rerankDepth() == WalkParameters.RERANK_EXPANDED) {
        continue;
      }
      try (HostWalk launch = new HostWalk(library, policy).withoutRawVectors().add(item);
          HostWalk reranking = new HostWalk(library, policy).add(item)) {
        HostWalk.Hits candidates = launch.run(1).get(0);
        assertEquals(
            ResultLayout.FLAG_COMPLETE | ResultLayout.FLAG_APPROXIMATE, candidates.flags());
        int k = Math.min(item.k(), segment.size());
        assertTrue(candidates.ordinals().length <= item.walk().rerankDepth(k));
        List<Integer> all = Arrays.stream(candidates.ordinals()).boxed().toList();
        for (int hit : reranking.run(1).get(0).ordinals()) {
          assertTrue(all.contains(hit));
        }
        if (item.acceptedOrdinals() != null) {
          all.forEach(ordinal -> assertTrue(item.acceptedOrdinals().get(ordinal)));
        }
      }
    }
  }

  /**
   * Copies in bytes that are the vectors: walks of a query that is as whole are those on the
   * floats, and need no raw vectors. Other queries are answered as over other copies.
   */
  public void testWholeCopiesNeedNoReranking() throws IOException {
    for (int round = 0; round < 30; round++) {
      GeneratedSegment segment =
          new GeneratedSegment(
              random(),
              VectorSimilarityFunction.EUCLIDEAN,
              VectorEncoding.FLOAT32,
              true,
              TestUtil.nextInt(random(), 50, 500),
              TestUtil.nextInt(random(), 1, 150));
      int warps = randomWarps();
      WorkItem item = withoutLimit(randomItem(segment, Policy.EXACT_BYTE));
      try (HostWalk whole = new HostWalk(library, Policy.EXACT_BYTE).withoutRawVectors().add(item);
          HostWalk floats = new HostWalk(library, Policy.EXACT_F32).add(item)) {
        assertEquals(1, whole.segment(0).get("whole_copies"));
        HostWalk.Hits expected = floats.run(warps).get(0);
        HostWalk.Hits actual = whole.run(warps).get(0);
        assertEquals(ResultLayout.FLAG_COMPLETE, actual.flags());
        assertArrayEquals(expected.ordinals(), actual.ordinals());
        assertArrayEquals(expected.scores(), actual.scores(), 0);
        assertVisited("", item, warps, expected.visited(), actual.visited());
        assertEquals(expected.iterations(), actual.iterations());
      }
      item.query().floats()[random().nextInt(segment.dimension())] += 0.25f;
      try (HostWalk whole = new HostWalk(library, Policy.EXACT_BYTE).withoutRawVectors().add(item);
          HostWalk other =
              new HostWalk(library, Policy.EXACT_BYTE)
                  .withoutRawVectors()
                  .withoutWholeCopies()
                  .add(item)) {
        HostWalk.Hits expected = other.run(warps).get(0);
        HostWalk.Hits actual = whole.run(warps).get(0);
        assertEquals(ResultLayout.FLAG_COMPLETE | ResultLayout.FLAG_APPROXIMATE, actual.flags());
        assertArrayEquals(expected.ordinals(), actual.ordinals());
        assertArrayEquals(expected.scores(), actual.scores(), 0);
      }
    }
  }

  public void testOrdinalsOutOfRangeVoidTheResult() throws IOException {
    for (int round = 0; round < 50; round++) {
      Policy policy = randomPolicy();
      GeneratedSegment segment = segment(policy);
      WorkItem item = withoutLimit(randomItem(segment, policy), new int[0]);
      int bad = random().nextBoolean() ? segment.size() : Integer.MIN_VALUE;
      Arrays.fill(segment.row(segment.medoid()), bad + random().nextInt(1000));
      try (HostWalk launch = new HostWalk(library, policy).add(item)) {
        HostWalk.Hits hits = launch.run(1).get(0);
        assertEquals(ResultLayout.FLAG_CORRUPT, hits.flags() & ~ResultLayout.FLAG_COMPLETE);
        assertEquals(0, hits.ordinals().length);
      }
    }
  }

  public void testMoreExpandedNodesThanTheScratchHolds() throws IOException {
    GeneratedSegment segment = segment(Policy.TABLE_HALF);
    WorkItem item =
        new WorkItem(
            segment,
            segment.query(random()),
            5,
            WalkParameters.quantized(20, WalkParameters.RERANK_EXPANDED),
            null,
            segment.size(),
            Long.MAX_VALUE,
            () -> false,
            new int[0]);
    try (HostWalk launch = new HostWalk(library, Policy.TABLE_HALF).add(item)) {
      launch.walk().set("expanded_capacity", 7);
      HostWalk.Hits hits = launch.run(1).get(0);
      assertEquals(ResultLayout.FLAG_OVERFLOW, hits.flags() & ~ResultLayout.FLAG_COMPLETE);
      assertEquals(0, hits.ordinals().length);
    }
  }

  public void testItemsOfSeveralSegmentsInOneLaunch() throws IOException {
    Policy policy = Policy.TABLE_HALF;
    List<WorkItem> items = new ArrayList<>();
    try (HostWalk together = new HostWalk(library, policy)) {
      for (int i = 0; i < 6; i++) {
        items.add(withoutLimit(randomItem(segment(policy), policy)));
        together.add(items.get(i));
      }
      List<HostWalk.Hits> hits = together.run(4);
      for (int i = 0; i < items.size(); i++) {
        try (HostWalk alone = new HostWalk(library, policy).add(items.get(i))) {
          HostWalk.Hits expected = alone.run(4).get(0);
          assertArrayEquals(expected.ordinals(), hits.get(i).ordinals());
          assertArrayEquals(expected.scores(), hits.get(i).scores(), 0);
        }
      }
    }
  }
}
