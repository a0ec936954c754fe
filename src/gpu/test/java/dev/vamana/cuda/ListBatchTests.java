package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.QueryVector;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.Workers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.NamedThreadFactory;

/**
 * Compares searches of inverted lists by many items together with the CPU's. They run on the device
 * if there is one, otherwise the kernels themselves run on the CPU, thread by thread.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class ListBatchTests extends LuceneTestCase {

  private static final long SIMULATED_BYTES = 1L << 30;
  private static final int K = 10;

  private final Set<String> launched = ConcurrentHashMap.newKeySet();

  private Gpu open(Placement placement) {
    Tuning tuning = Tuning.DEFAULT.withListSharing(1);
    return Gpu.missing() == null
        ? Gpu.open(Gpu::openDriver, placement, tuning)
        : open(SimtKernels.load(), placement, tuning);
  }

  /** On the device if there is one, otherwise by threads of blocks that make progress in turns. */
  private Gpu open(Tuning tuning) {
    return Gpu.missing() == null
        ? Gpu.open(Gpu::openDriver, Placement.EXACT, tuning)
        : open(
            random().nextBoolean()
                ? SimtKernels.load()
                : SimtKernels.sideBySide(random().nextLong()),
            Placement.EXACT,
            tuning);
  }

  private Gpu open(SimulatedKernels kernels, Placement placement, Tuning tuning) {
    boolean mapped = random().nextBoolean();
    return Gpu.open(
        () ->
            new SimulatedDriver(
                name -> {
                  launched.add(name);
                  return kernels.find(name);
                },
                SIMULATED_BYTES,
                mapped),
        placement,
        tuning);
  }

  /** Whether items were searched together is known of the simulated device only. */
  private void assertTogether(boolean expected) {
    if (Gpu.missing() != null) {
      assertEquals(
          launched.toString(),
          expected,
          launched.stream().anyMatch(name -> name.startsWith("list_batch_score_")));
    }
  }

  private static DeviceSegment segment(List<QueryVector> vectors) throws Exception {
    return DeviceSegment.of(
        createTempDir(),
        vectors,
        VectorSimilarityFunction.EUCLIDEAN,
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.RABITQ1),
        Workers.callingThread());
  }

  private static DeviceSegment segment(
      int size, int dimension, VectorEncoding encoding, VectorSimilarityFunction similarity)
      throws Exception {
    return ListParityTests.segment(size, dimension, encoding, similarity, CodeKind.RABITQ1);
  }

  private void compare(
      String what, DeviceSegment segment, Placement placement, List<WorkItem> items)
      throws Exception {
    try (Gpu gpu = open(placement)) {
      List<WorkResult> found = ListParityTests.onDevice(gpu, List.of(segment.view()), items);
      ListParityTests.compare(what, items, found);
    }
    assertTogether(true);
  }

  public void testEverySimilarity() throws Exception {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
        try (DeviceSegment segment = segment(4_000, 40, encoding, similarity)) {
          compare(
              encoding + ", " + similarity,
              segment,
              Placement.EXACT,
              ListParityTests.items(segment, 60, K, 40, null, Long.MAX_VALUE));
        }
      }
    }
  }

  public void testDimensions() throws Exception {
    for (Placement placement : List.of(Placement.EXACT, Placement.IN_MEMORY)) {
      int dimension = TestUtil.nextInt(random(), 2, random().nextInt(4) > 0 ? 300 : 1_024);
      try (DeviceSegment segment =
          segment(2_500, dimension, ListParityTests.encoding(), ListParityTests.similarity())) {
        compare(
            "dimension " + dimension + ", " + placement,
            segment,
            placement,
            ListParityTests.items(segment, 40, K, 30, null, Long.MAX_VALUE));
      }
    }
  }

  public void testWidths() throws Exception {
    try (DeviceSegment segment =
        segment(6_000, 24, ListParityTests.encoding(), ListParityTests.similarity())) {
      for (int width : new int[] {1, 7, 64, 100}) {
        int k = 1 + random().nextInt(width);
        compare(
            "width " + width + ", k " + k,
            segment,
            Placement.EXACT,
            ListParityTests.items(segment, 25, k, width, null, Long.MAX_VALUE));
      }
    }
  }

  /** Items of different widths are searched together, too. */
  public void testManyItems() throws Exception {
    try (DeviceSegment segment =
        segment(9_000, 24, ListParityTests.encoding(), ListParityTests.similarity())) {
      List<WorkItem> items = new ArrayList<>();
      for (int width : new int[] {10, 11, 30, 60}) {
        items.addAll(ListParityTests.items(segment, 70, K, width, null, Long.MAX_VALUE));
      }
      compare("280 items", segment, Placement.EXACT, items);
    }
  }

  /**
   * Distances to centroids are products of halves, whatever the vectors' length and their place.
   */
  public void testScaledAndMovedVectors() throws Exception {
    for (float scale : new float[] {1, 1e4f, 1e8f}) {
      float move = random().nextBoolean() ? 0 : 100 * scale;
      List<QueryVector> vectors = new ArrayList<>();
      for (QueryVector vector :
          DeviceSegment.clustered(
              new Random(random().nextLong()),
              3_000,
              40,
              VectorEncoding.FLOAT32,
              VectorSimilarityFunction.EUCLIDEAN)) {
        float[] scaled = vector.floats().clone();
        for (int d = 0; d < scaled.length; d++) {
          scaled[d] = scaled[d] * scale + move;
        }
        vectors.add(QueryVector.of(scaled));
      }
      try (DeviceSegment segment = segment(vectors)) {
        assertTrue(segment.view().hasLists());
        compare(
            "scaled by " + scale + ", moved by " + move,
            segment,
            Placement.EXACT,
            ListParityTests.items(segment, 50, K, 30, null, Long.MAX_VALUE));
      }
    }
  }

  /**
   * Of vectors without clusters the bound leaves most open: such items are left, and searched one
   * by one.
   */
  public void testMoreCandidatesThanRoom() throws Exception {
    int dimension = 64;
    List<QueryVector> vectors = new ArrayList<>();
    for (int i = 0; i < 8_000; i++) {
      float[] vector = new float[dimension];
      for (int d = 0; d < dimension; d++) {
        vector[d] = (float) random().nextGaussian();
      }
      vectors.add(QueryVector.of(vector));
    }
    try (DeviceSegment segment = segment(vectors)) {
      compare(
          "no clusters",
          segment,
          Placement.EXACT,
          ListParityTests.items(segment, 20, K, 10, null, Long.MAX_VALUE));
    }
  }

  /**
   * Searches together score a long nearest list in pieces. They find the same hits and visit the
   * same vectors as searches one by one.
   */
  public void testLongLists() throws Exception {
    int dimension = 20;
    List<QueryVector> vectors = new ArrayList<>();
    byte[] near = new byte[dimension];
    random().nextBytes(near);
    for (int i = 0; i < 7_000; i++) {
      byte[] vector = near.clone();
      // a few points that many vectors share, so that these are in one list; others differ
      for (int d = 0; d < 5; d++) {
        vector[d] = (byte) (near[d] / 2 + (random().nextInt(3) == 0 ? 9 * (d + 1) : 0));
      }
      for (int d = 5; d < dimension && i % 5 == 0; d++) {
        vector[d] = (byte) (near[d] / 2 + random().nextInt(60));
      }
      vectors.add(QueryVector.of(vector));
    }
    try (DeviceSegment segment = segment(vectors)) {
      int[] groups = segment.view().lists().groups();
      int longest = 0;
      for (int list = 1; list < groups.length; list++) {
        longest = Math.max(longest, groups[list] - groups[list - 1]);
      }
      assertTrue("longest list: groups of eight: " + longest, longest > 2 * 256 / 8);
      List<WorkItem> items =
          ListParityTests.items(segment, 40, K, 1 + random().nextInt(30), null, Long.MAX_VALUE);
      List<List<WorkResult>> found = new ArrayList<>();
      for (int sharing : new int[] {0, 1}) {
        Tuning tuning = Tuning.DEFAULT.withWarps(4).withTeam(1).withListSharing(sharing);
        try (Gpu gpu = open(tuning)) {
          found.add(ListParityTests.onDevice(gpu, List.of(segment.view()), items));
        }
        assertTogether(sharing > 0);
      }
      for (int i = 0; i < items.size(); i++) {
        WorkResult oneByOne = found.get(0).get(i);
        WorkResult together = found.get(1).get(i);
        assertArrayEquals(oneByOne.ordinals(), together.ordinals());
        assertArrayEquals(oneByOne.scores(), together.scores(), 0);
        assertEquals(oneByOne.visited(), together.visited());
      }
    }
  }

  /**
   * Launches that search lists together have four times as many items as others may have, unless
   * the device's cache holds the lists.
   */
  public void testLaunchesTogetherAreLarger() throws Exception {
    assertLargerLaunches(3_000, true);
    assertLargerLaunches(1_000, false);
  }

  private void assertLargerLaunches(int size, boolean larger) throws Exception {
    int most = 8;
    int together = BatchOptions.TOGETHER * most;
    try (DeviceSegment segment =
            segment(size, 24, ListParityTests.encoding(), ListParityTests.similarity());
        Gpu gpu = open(Placement.EXACT)) {
      // nothing starts before a launch is full
      gpu.batches(most, TimeUnit.MINUTES.toNanos(10));
      List<WorkItem> items =
          ListParityTests.items(segment, 2 * together, K, 20, null, Long.MAX_VALUE);
      Gpu.Counts before = gpu.counts();
      ListParityTests.compare(
          "launches of " + together,
          items,
          ListParityTests.onDevice(gpu, List.of(segment.view()), items));
      // the cache of a real device holds the lists of either segment
      int expected = larger && Gpu.missing() != null ? 2 : 2 * BatchOptions.TOGETHER;
      assertEquals(expected, gpu.counts().launches() - before.launches());
    }
    assertTogether(true);
  }

  /** A search that scores as many vectors as it may ends incomplete, with the best of them. */
  public void testVisitLimits() throws Exception {
    try (DeviceSegment segment =
        segment(3_000, 24, ListParityTests.encoding(), ListParityTests.similarity())) {
      for (int limit : new int[] {1, 16, 25, 45}) {
        List<WorkItem> items = ListParityTests.items(segment, 20, K, 40, null, limit);
        try (Gpu gpu = open(Placement.EXACT)) {
          for (WorkResult result : ListParityTests.onDevice(gpu, List.of(segment.view()), items)) {
            assertFalse(result.complete());
            assertEquals(limit, result.visited());
            assertEquals(Math.min(K, limit), result.ordinals().length);
          }
        }
      }
    }
    assertTogether(true);
  }

  /** Codes of more bits are searched one by one. */
  public void testOtherCodes() throws Exception {
    try (DeviceSegment segment =
            ListParityTests.segment(
                2_000,
                24,
                ListParityTests.encoding(),
                ListParityTests.similarity(),
                CodeKind.RABITQ4);
        Gpu gpu = open(Placement.EXACT)) {
      List<WorkItem> items = ListParityTests.items(segment, 40, K, 20, null, Long.MAX_VALUE);
      ListParityTests.compare(
          "four bits", items, ListParityTests.onDevice(gpu, List.of(segment.view()), items));
    }
    assertTogether(false);
  }

  /** A lone item has a team of blocks, in turns with items that are searched together. */
  public void testTeamsByTurns() throws Exception {
    Tuning tuning = Tuning.DEFAULT.withWarps(16).withTeam(3).withListSharing(1);
    try (DeviceSegment segment =
            segment(3_000, 24, ListParityTests.encoding(), ListParityTests.similarity());
        Gpu gpu = open(tuning)) {
      DeviceTestCase.serve(gpu, segment.view());
      int lists = segment.view().lists().shape().lists();
      for (int count : new int[] {1, lists, 1, 1, lists}) {
        List<WorkItem> items = ListParityTests.items(segment, count, K, 30, null, Long.MAX_VALUE);
        Gpu.Counts before = gpu.counts();
        ListParityTests.compare(count + " items", items, gpu.executor().search(items));
        DeviceTestCase.assertNoFallback(gpu, before);
      }
      gpu.executor().closing(segment.view());
    }
    assertTogether(true);
    if (Gpu.missing() != null) {
      assertTrue(launched.toString(), launched.stream().anyMatch(name -> name.endsWith("_w24")));
    }
  }

  /** Calls side by side, whose items may share a launch and then do not lie side by side. */
  public void testSeveralCalls() throws Exception {
    ExecutorService pool =
        Executors.newFixedThreadPool(3, new NamedThreadFactory("calls of a launch"));
    try (DeviceSegment segment =
            segment(4_000, 24, ListParityTests.encoding(), ListParityTests.similarity());
        Gpu gpu = open(Placement.EXACT)) {
      DeviceTestCase.serve(gpu, segment.view());
      GpuExecutor executor = (GpuExecutor) gpu.executor();
      List<List<WorkItem>> calls = new ArrayList<>();
      List<Future<List<WorkResult>>> found = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        List<WorkItem> items =
            ListParityTests.items(segment, 15 + random().nextInt(10), K, 20, null, Long.MAX_VALUE);
        calls.add(items);
        found.add(pool.submit(() -> executor.search(items)));
      }
      for (int i = 0; i < calls.size(); i++) {
        ListParityTests.compare("call " + i, calls.get(i), found.get(i).get());
      }
      executor.closing(segment.view());
    } finally {
      pool.shutdown();
    }
    assertTogether(true);
  }
}
