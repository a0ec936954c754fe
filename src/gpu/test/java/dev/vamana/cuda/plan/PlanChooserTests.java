package dev.vamana.cuda.plan;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;

/** Tests choices on both sides of their boundaries. */
public class PlanChooserTests extends PlanTestCase {

  private static final PlanChooser CHOOSER = new PlanChooser(model());

  private static Plan auto(Workload task) {
    return CHOOSER.choose(task, PlanMode.AUTO);
  }

  /** A CPU so slow that it is never chosen. */
  private static PlanChooser withoutCpu() {
    return new PlanChooser(model(1e-3, 1e9));
  }

  public void testScanOrWalkOnTheDevice() {
    PlanChooser chooser = withoutCpu();
    // 10 us and 0.4 ns a vector meet 100 us at 225,000 vectors
    for (int off : new int[] {-1000, 1000}) {
      Workload task =
          task(225_000 + off, 225_000 + off, Workload.Rows.DEVICE, Workload.Graph.DEVICE, false, 1);
      Plan plan = chooser.choose(task, PlanMode.AUTO);
      assertEquals(off < 0 ? Plan.SCAN : Plan.GRAPH, plan);
      assertEquals(off < 0 ? 100_000 + 0.4 * off : WALK_NANOS, model().nanos(plan, task), 1e-6);
    }
  }

  private static Workload segments(int segments, int vectors, Workload.Rows rows, int queries) {
    return task(vectors, vectors, rows, Workload.Graph.DEVICE, false, queries).over(segments);
  }

  /** Scans count one after the other, and walks at the same time. */
  public void testManySegmentsAreWalked() {
    PlanChooser chooser = withoutCpu();
    for (int segments : new int[] {1, 2, 4}) {
      // two batches of segments of 10 us and 0.4 ns a vector take as long as a walk of 100 us
      int even = (int) ((WALK_NANOS / 2 / segments - 10_000) / 0.4);
      for (int off : new int[] {-100, 100}) {
        Workload task = segments(segments, even + off, Workload.Rows.DEVICE);
        assertEquals(off < 0, chooser.prefersExact(task));
      }
    }
    assertFalse(chooser.prefersExact(segments(1, 100, Workload.Rows.NONE)));
  }

  /** Batches of scans wait for each other, so they have to be faster for several callers, too. */
  public void testExactAnswersAreForSeveralCallers() {
    // 10 us and 0.1 ns a component: 90 us for one query, 330 us for four
    CostModel products = model(0, 1e9).with(CostForm.SCAN, 10_000, 0, 1, 1, 0.1, 0);
    Workload task = segments(1, 8_000, Workload.Rows.DEVICE);
    assertEquals(90_000, products.nanos(Plan.SCAN, task), 1e-6);
    assertFalse(new PlanChooser(products).prefersExact(task));
    // 18 us for one query, 42 us for four, of which two take less than the walk of 100 us
    assertTrue(new PlanChooser(products).prefersExact(segments(1, 800, Workload.Rows.DEVICE)));
    // 20 us, and 50 us for four
    assertTrue(new PlanChooser(products).prefersExact(segments(1, 999, Workload.Rows.DEVICE)));
    assertFalse(new PlanChooser(products).prefersExact(segments(1, 1_001, Workload.Rows.DEVICE)));
    // beside the CPU's walk alone, one caller decides
    Workload noGraph = task(8_000, 8_000, Workload.Rows.DEVICE, Workload.Graph.NONE, false, 1);
    assertTrue(new PlanChooser(products).prefersExact(noGraph));
  }

  private static Workload lists(int segments, int vectors, Workload.Rows rows, boolean cpuScans) {
    return task(vectors, vectors, rows, Workload.Graph.LISTS, cpuScans, 1).over(segments);
  }

  /** The CPU's time does not count: the CPU is no alternative to a search of lists. */
  public void testScanOrLists() {
    for (PlanChooser chooser : new PlanChooser[] {CHOOSER, withoutCpu()}) {
      boolean cpuScans = random().nextBoolean();
      for (int segments : new int[] {1, 2, 4}) {
        // 10 us and 0.4 ns a vector for each segment, of which several callers wait for two scans,
        // and a quarter more than 100 us for the lists of all
        int even = (int) ((1.25 * WALK_NANOS / 2 / segments - 10_000) / 0.4);
        for (int off : new int[] {-100, 100}) {
          Workload task = lists(segments, even + off, Workload.Rows.DEVICE, cpuScans);
          assertEquals(off < 0, chooser.prefersExact(task));
        }
      }
      for (Workload.Rows rows : Workload.Rows.values()) {
        assertEquals(
            rows == Workload.Rows.DEVICE, chooser.prefersExact(lists(1, 100, rows, cpuScans)));
      }
    }
  }

  /**
   * A caller waits for two scans with four of eight callers each, or for a launch with the lists of
   * eight. The exact answer may take half longer, since it takes one caller a quarter of the time.
   */
  public void testExactAnswersOfListsAreForSeveralCallers() {
    // scans: 10 us and 0.1 ns a component, 100 for each vector and query
    CostModel products = model(0, 1e9).with(CostForm.SCAN, 10_000, 0, 1, 1, 0.1, 0);
    // 90 us for one query and 330 us for four; lists 100 us for any number
    assertFalse(
        new PlanChooser(products).prefersExact(lists(1, 8_000, Workload.Rows.DEVICE, false)));
    // 75 us for four, twice, and 150 us
    for (int off : new int[] {-10, 10}) {
      Workload task = lists(1, 1_625 + off, Workload.Rows.DEVICE, false);
      assertEquals(off < 0, new PlanChooser(products).prefersExact(task));
    }
    // 70 us and 30 us a query: 387.5 us with a quarter more, and as much for two scans of four
    // queries at 4,594 vectors
    PlanChooser growing = new PlanChooser(products.with(CostForm.LISTS, 70_000, 0, 0, 0, 30_000));
    for (int off : new int[] {-10, 10}) {
      Workload task = lists(1, 4_594 + off, Workload.Rows.DEVICE, false);
      assertEquals(off < 0, growing.prefersExact(task));
    }
  }

  /** Lists are nothing that a walk could replace. */
  public void testListsAreNotWalked() {
    for (PlanMode mode : PlanMode.values()) {
      for (Workload.Rows rows : Workload.Rows.values()) {
        Plan plan = CHOOSER.choose(lists(1, VECTORS, rows, false), mode);
        assertTrue(plan == Plan.CPU || plan == Plan.SCAN);
      }
    }
  }

  private static Workload segments(int segments, int vectors, Workload.Rows rows) {
    return task(vectors, vectors, rows, Workload.Graph.DEVICE, false, 1).over(segments);
  }

  /** Accepted vectors of several segments are gathered one segment after the other. */
  public void testGatherOrScanOfSegments() {
    PlanChooser chooser = withoutCpu();
    Workload strict = task(2_000, 500, Workload.Rows.DEVICE, Workload.Graph.DEVICE, true, 1);
    // 10.4 us, or 10 us and 1 us of rows and filter for each segment
    assertEquals(Plan.GATHER, chooser.choose(strict, PlanMode.AUTO));
    assertEquals(Plan.SCAN, chooser.choose(strict.over(2), PlanMode.AUTO));
  }

  /** Segments that share a launch are worth one together. */
  public void testDeviceNanosOfSegments() {
    // 4 us on the CPU, 10 us and 1.6 us of rows on the device
    Workload task = task(4_000, 4_000, Workload.Rows.DEVICE, Workload.Graph.NONE, true, 1);
    double launch = CHOOSER.deviceNanos(task, 1, 1);
    assertTrue(launch > CHOOSER.cpuNanos(task));
    double eight = CHOOSER.deviceNanos(task.over(8), 1, 1);
    assertTrue("one launch", eight < 2 * launch);
    assertTrue(eight < 8 * CHOOSER.cpuNanos(task));
    assertEquals(4_000, CHOOSER.cpuNanos(task.over(4)), 1e-6);
    assertTrue("callers wait for each other", CHOOSER.deviceNanos(task, 8, 1) > launch);
    Workload nowhere = task(4_000, 4_000, Workload.Rows.NONE, Workload.Graph.NONE, true, 1);
    assertEquals(Double.POSITIVE_INFINITY, CHOOSER.deviceNanos(nowhere, 1, 1), 0);
  }

  public void testScanOrGather() {
    PlanChooser chooser = withoutCpu();
    // 0.8 ns an accepted vector against 0.4 ns a vector and 1 ns of filter for 8 of them
    int vectors = 80_000;
    int even = (int) (vectors * (0.4 + 0.125) / 0.8);
    for (int off : new int[] {-100, 100}) {
      Workload task = task(vectors, even + off, Workload.Rows.DEVICE, Workload.Graph.NONE, true, 1);
      assertEquals(off < 0 ? Plan.GATHER : Plan.SCAN, chooser.choose(task, PlanMode.AUTO));
    }
    Workload all = task(vectors, vectors, Workload.Rows.DEVICE, Workload.Graph.NONE, true, 1);
    assertEquals(Plan.SCAN, chooser.choose(all, PlanMode.AUTO));
  }

  /** A nanosecond of the CPU counts as much as two of the device. */
  public void testCpuOrDevice() {
    // 1 ns an accepted vector, twice, against 10 us and 0.8 ns an accepted vector
    int even = (int) (10_000 / (2 - 0.8));
    for (int off : new int[] {-10, 10}) {
      Workload task =
          task(90_000, even + off, Workload.Rows.DEVICE, Workload.Graph.DEVICE, true, 1);
      assertEquals(off < 0 ? Plan.CPU : Plan.GATHER, auto(task));
      assertEquals(off < 0, CHOOSER.sureOfCpu(task));
    }
    // a walk of 100 us
    for (int off : new int[] {-10, 10}) {
      Workload task =
          task(90_000, 50_000 + off, Workload.Rows.NONE, Workload.Graph.DEVICE, false, 1);
      assertEquals(off < 0 ? Plan.CPU : Plan.GRAPH, auto(task));
    }
  }

  /** The cost of handing over counts against the device, but is no part of the prediction. */
  public void testHandOver() {
    PlanChooser chooser = new PlanChooser(model().with(CostForm.HAND_OVER, 30_000));
    for (int off : new int[] {-10, 10}) {
      Workload task =
          task(90_000, 65_000 + off, Workload.Rows.NONE, Workload.Graph.DEVICE, false, 1);
      Plan plan = chooser.choose(task, PlanMode.AUTO);
      assertEquals(off < 0 ? Plan.CPU : Plan.GRAPH, plan);
      assertEquals(off < 0 ? 65_000 + off : WALK_NANOS, model().nanos(plan, task), 0);
    }
  }

  /** More queries at once are worth a call of the device sooner. */
  public void testBatches() {
    Workload alone = task(8000, 8000, Workload.Rows.DEVICE, Workload.Graph.NONE, true, 1);
    assertEquals(Plan.SCAN, auto(alone));
    alone = task(5000, 5000, Workload.Rows.DEVICE, Workload.Graph.NONE, true, 1);
    assertEquals(Plan.CPU, auto(alone));
    Workload batch = task(5000, 5000, Workload.Rows.DEVICE, Workload.Graph.NONE, true, 5);
    assertEquals(Plan.SCAN, auto(batch));
  }

  /** Where the CPU would scan, a walk could miss what it finds. */
  public void testAWalkNeverReplacesAScan() {
    Workload task = task(900_000, 900_000, Workload.Rows.NONE, Workload.Graph.DEVICE, true, 1);
    assertEquals(Plan.CPU, auto(task));
    assertEquals(Plan.CPU, CHOOSER.choose(task, PlanMode.GRAPH));
    assertEquals(Plan.CPU, CHOOSER.choose(task, PlanMode.EXACT));
    for (int i = 0; i < 100; i++) {
      int vectors = 1 + random().nextInt(1_000_000);
      Workload any =
          task(
              vectors,
              random().nextInt(vectors + 1),
              RandomPicks.randomFrom(random(), Workload.Rows.values()),
              RandomPicks.randomFrom(random(), Workload.Graph.values()),
              true,
              1 + random().nextInt(100));
      for (PlanMode mode : PlanMode.values()) {
        assertNotSame(Plan.GRAPH, CHOOSER.choose(any, mode));
      }
    }
  }

  public void testPinned() {
    Workload both = task(Workload.Rows.DEVICE, Workload.Graph.DEVICE, false);
    assertEquals(Plan.SCAN, CHOOSER.choose(both, PlanMode.EXACT));
    assertEquals(Plan.GRAPH, CHOOSER.choose(both, PlanMode.GRAPH));
    assertEquals(Plan.CPU, CHOOSER.choose(both, PlanMode.CPU));
    Workload noRows = task(Workload.Rows.NONE, Workload.Graph.MAPPED, false);
    assertEquals(Plan.GRAPH, CHOOSER.choose(noRows, PlanMode.EXACT));
    Workload nothing = task(Workload.Rows.NONE, Workload.Graph.NONE, false);
    for (PlanMode mode : PlanMode.values()) {
      assertEquals(Plan.CPU, CHOOSER.choose(nothing, mode));
    }
    Workload noGraph = task(Workload.Rows.DEVICE, Workload.Graph.NONE, false);
    assertEquals(Plan.CPU, CHOOSER.choose(noGraph, PlanMode.GRAPH));
  }
}
