package dev.vamana.cuda.plan;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;

/** Tests choices on both sides of their boundaries. */
public class PlanChooserTests extends PlanTestCase {

  private static final PlanChooser CHOOSER = new PlanChooser(model());

  private static Plan auto(Workload task) {
    return CHOOSER.choose(task, PlanMode.AUTO);
  }

  private static Workload segments(int segments, int vectors, Workload.Rows rows, int queries) {
    return task(vectors, vectors, rows, Workload.Graph.DEVICE, false, queries).over(segments);
  }

  private static Workload lists(int segments, int vectors, Workload.Rows rows, boolean cpuScans) {
    return task(vectors, vectors, rows, Workload.Graph.LISTS, cpuScans, 1).over(segments);
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
