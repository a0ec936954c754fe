package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.FixedBitSet;

/** Compares answers of the device with answers of the CPU for the same walks. */
public class GpuExecutorTests extends GpuTestCase {

  /** An executor to which every segment is resident. */
  private static GpuExecutor open(
      SimulatedDriver driver, BatchOptions batches, Placement placement) {
    return openAtOnce(
        WALKS.withBatches(batches), () -> driver, everything(placement), new QuietListener());
  }

  private static void assertAnswers(Placement placement, double share) throws IOException {
    assertAnswers(placement, true, Tuning.DEFAULT, share);
  }

  private static void assertAnswers(Placement placement, Tuning tuning, double share)
      throws IOException {
    assertAnswers(placement, true, tuning, share);
  }

  /** Of vectors that the device reads or not. */
  private static void assertAnswers(Placement placement, boolean raw, Tuning tuning, double share)
      throws IOException {
    WalkParameters.Distances distances =
        placement == Placement.EXACT
            ? WalkParameters.Distances.EXACT
            : WalkParameters.Distances.QUANTIZED;
    SimulatedDriver driver = driver();
    try (TestIndex index = TestIndex.any(1500, 3)) {
      if (raw == false) {
        index.hidingVectors();
      }
      GpuExecutor executor = open(driver, BATCHES.withTuning(tuning), placement);
      try {
        // judged together: two hits that change places are a large share of a few items'
        List<WorkResult> expected = new ArrayList<>();
        List<WorkResult> results = new ArrayList<>();
        for (int count : new int[] {1, 2, 40, 700}) {
          List<WorkItem> items = index.items(count, distances);
          results.addAll(executor.search(items));
          expected.addAll(onCpu(items));
        }
        assertSame(expected, results, share);
        GpuStatistics statistics = executor.statistics();
        assertTrue(statistics.usable());
        long device = statistics.counter("items_by_placement", placement.settingName());
        long cpu =
            statistics.counters().get("items_on_cpu").values().stream().mapToLong(n -> n).sum();
        assertEquals(statistics.toString(), 743, device + cpu);
        assertTrue(statistics.toString(), device >= 200);
        index.views().forEach(executor::closing);
      } finally {
        executor.close();
      }
    }
  }

  public void testExact() throws IOException {
    assertAnswers(Placement.EXACT, 0.99);
  }

  /** Sums of bytes are exact in any order, so that whole answers are the CPU's to the last bit. */
  public void testWalksOfBytes() throws IOException {
    try (TestIndex index =
        new TestIndex(
            VectorEncoding.BYTE,
            VectorSimilarityFunction.EUCLIDEAN,
            8 + random().nextInt(40),
            1500,
            3)) {
      for (int warps : Tuning.WARPS) {
        BatchOptions batches = BATCHES.withTuning(Tuning.DEFAULT.withWarps(warps));
        try (GpuExecutor executor = open(driver(), batches, Placement.EXACT)) {
          List<WorkItem> items = index.items(60, WalkParameters.Distances.EXACT);
          List<WorkResult> expected = onCpu(items);
          List<WorkResult> found = executor.search(items);
          for (int i = 0; i < items.size(); i++) {
            assertArrayEquals(expected.get(i).ordinals(), found.get(i).ordinals());
            assertArrayEquals(expected.get(i).scores(), found.get(i).scores(), 0);
          }
          assertTrue(executor.statistics().counter("items_by_placement", "exact") > 0);
        }
      }
    }
  }

  /** Every choice that is made by rule can be made by hand, and gives the same answers. */
  public void testTunings() throws IOException {
    assertAnswers(Placement.IN_MEMORY, Tuning.DEFAULT.withTable(Policy.TABLE_FLOAT), 0.98);
    assertAnswers(Placement.IN_MEMORY, Tuning.DEFAULT.withTable(Policy.TABLE_GLOBAL), 0.98);
    assertAnswers(Placement.IN_MEMORY, Tuning.DEFAULT.withTable(Policy.TABLE_HALF), 0.97);
    int warps = Tuning.WARPS.get(random().nextInt(Tuning.WARPS.size()));
    assertAnswers(Placement.EXACT, Tuning.DEFAULT.withWarps(warps), 0.98);
  }

  public void testInMemory() throws IOException {
    assertAnswers(Placement.IN_MEMORY, 0.97);
  }

  /** More than pinned memory holds at once goes through it in parts. */
  public void testMoreThanStagingHolds() throws IOException {
    SimulatedDriver driver = driver();
    try (TestIndex index = TestIndex.any(1200, 1).hidingVectors();
        GpuExecutor executor = open(driver, BATCHES, Placement.IN_MEMORY)) {
      List<WorkItem> items = new ArrayList<>();
      for (WorkItem item : index.items(3000, WalkParameters.Distances.QUANTIZED)) {
        // all expanded nodes come back, some kilobytes an item
        items.add(
            Walks.item(
                item.segment(),
                item.query(),
                item.k(),
                WalkParameters.quantized(40, WalkParameters.RERANK_EXPANDED)));
      }
      List<WorkResult> results = executor.search(items);
      assertSame(onCpu(items), results, 0.95);
      GpuStatistics statistics = executor.statistics();
      assertEquals(0, statistics.counter("items_on_cpu", "staging_full"));
      assertEquals(3000, statistics.counter("items_by_placement", "in-memory"));
      assertTrue(statistics.counter("batches", "requests") >= 3000 / BATCHES.maxBatch());
      assertEquals(
          "all requests' memory is free again",
          BatchOptions.DEPTH * 8L * BATCHES.maxBatch(),
          statistics.counter("now", "staging_bytes"));
    }
  }

  /** Live documents and a filter that repeats are copied once, not for each call. */
  public void testBitsStayOnTheDevice() throws IOException {
    int size = 2000;
    try (TestIndex index = TestIndex.any(size, 1);
        GpuExecutor executor = open(driver(), BATCHES, Placement.EXACT)) {
      List<List<WorkItem>> calls = new ArrayList<>();
      for (int call = 0; call < 3; call++) {
        FixedBitSet accepted = new FixedBitSet(size);
        for (int i = 0; i < size; i++) {
          accepted.set(random().nextInt(size));
        }
        List<WorkItem> items = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
          items.add(
              Walks.item(
                  index.views().get(0), index.vector(), 4, WalkParameters.exact(8), accepted));
        }
        calls.add(items);
      }
      int[] order = {0, 0, 1, 0, 1, 2, 2, 1, 0};
      int[] copies = {1, 1, 2, 2, 2, 3, 3, 3, 4};
      for (int i = 0; i < order.length; i++) {
        List<WorkItem> items = calls.get(order[i]);
        assertSame(onCpu(items), executor.search(items), 0.98);
        assertEquals(copies[i], executor.statistics().counter("batches", "copied_bitsets"));
        // a lone query finds them, too
        executor.search(items.subList(0, 1));
        assertEquals(copies[i], executor.statistics().counter("batches", "copied_bitsets"));
      }
    }
  }

  public void testBitsetsAreShared() throws IOException {
    SimulatedDriver driver = driver();
    int size = 4000;
    try (TestIndex index = TestIndex.any(size, 1);
        GpuExecutor executor = open(driver, BATCHES, Placement.EXACT)) {
      FixedBitSet accepted = new FixedBitSet(size);
      accepted.set(0, size);
      for (int i = 0; i < 400; i++) {
        accepted.clear(random().nextInt(size));
      }
      List<WorkItem> items = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        items.add(
            Walks.item(index.views().get(0), index.vector(), 4, WalkParameters.exact(8), accepted));
      }
      WorkResult alone = executor.search(items.subList(0, 1)).get(0);
      assertEquals(0, executor.statistics().counter("batches", "copied_bitsets"));
      List<WorkResult> results = executor.search(items);
      assertEquals(1, executor.statistics().counter("batches", "copied_bitsets"));
      assertSame(onCpu(items), results, 0.98);
      assertSame(onCpu(items.subList(0, 1)), List.of(alone), 0.7);
      for (WorkResult result : results) {
        for (int ordinal : result.ordinals()) {
          assertTrue(accepted.get(ordinal));
        }
      }
    }
  }

  public void testVisitLimits() throws IOException {
    SimulatedDriver driver = driver();
    try (TestIndex index = TestIndex.any(1500, 1);
        GpuExecutor executor = open(driver, BATCHES, Placement.EXACT)) {
      for (int limit : new int[] {0, 1, 10, 40, 100}) {
        WorkItem item =
            Walks.limited(
                Walks.item(index.views().get(0), index.vector(), 10, WalkParameters.exact(30)),
                limit,
                () -> false);
        WorkResult result = executor.search(List.of(item)).get(0);
        assertFalse(result.complete());
        assertTrue(result.visited() + " of " + limit, result.visited() <= limit);
      }
      assertTrue(executor.statistics().counter("items_on_cpu", "visit_limit") >= 3);
      assertTrue(executor.statistics().counter("items_by_placement", "exact") >= 2);
    }
  }

  public void testInMemoryRerankedByTheCaller() throws IOException {
    assertAnswers(Placement.IN_MEMORY, false, Tuning.DEFAULT, 0.97);
  }

  public void testHostFetch() throws IOException {
    assertAnswers(Placement.HOST_FETCH, 0.97);
  }
}
