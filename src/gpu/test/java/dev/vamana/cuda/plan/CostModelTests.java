package dev.vamana.cuda.plan;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Tests the formulas and the file of their coefficients. */
public class CostModelTests extends PlanTestCase {

  public void testShippedModel() {
    CostModel model = CostModel.shipped();
    Workload task = task(Workload.Rows.DEVICE, Workload.Graph.DEVICE, false);
    for (Plan plan : Plan.values()) {
      assertTrue(plan + " takes time", model.nanos(plan, task) > 0);
    }
  }

  /** More work never takes less time, on whatever device. */
  public void testMoreWorkTakesLonger() {
    CostModel model = CostModel.shipped();
    for (CostModel each : List.of(model, model.scaledTo(20), model.scaledTo(500))) {
      for (Plan plan : Plan.values()) {
        for (Workload.Graph graph : Workload.Graph.values()) {
          for (Workload.Rows rows : Workload.Rows.values()) {
            Workload small = task(1000, 1000, rows, graph, random().nextBoolean(), 20);
            Workload large =
                task(90_000, 80_000, rows, graph, small.cpu().scans(), 20 + random().nextInt(9000));
            assertTrue(plan + " " + large, each.nanos(plan, large) >= each.nanos(plan, small));
          }
        }
      }
    }
  }

  public void testFormulas() {
    CostModel model = model();
    Workload alone = task(Workload.Rows.DEVICE, Workload.Graph.DEVICE, false);
    assertEquals(10_000 + VECTORS * 0.4, model.nanos(Plan.SCAN, alone), 1e-6);
    assertEquals(WALK_NANOS, model.nanos(Plan.GRAPH, alone), 0);
    assertEquals(VECTORS, model.nanos(Plan.CPU, alone), 0);
    Workload mapped = task(Workload.Rows.HOST, Workload.Graph.MAPPED, false);
    assertEquals(10_000 + VECTORS * 400.0, model.nanos(Plan.SCAN, mapped), 1e-6);
    assertEquals(2 * WALK_NANOS, model.nanos(Plan.GRAPH, mapped), 0);
    Workload fetched = task(Workload.Rows.NONE, Workload.Graph.FETCHED, false);
    assertEquals(3 * WALK_NANOS, model.nanos(Plan.GRAPH, fetched), 0);
    Workload filtered = task(8000, 30, Workload.Rows.DEVICE, Workload.Graph.DEVICE, true, 3);
    assertEquals(10_000 + 30 * 0.8, model.nanos(Plan.GATHER, filtered), 1e-6);
    Workload many = task(8000, 30, Workload.Rows.DEVICE, Workload.Graph.DEVICE, true, 300);
    assertEquals(20_000 + 30 * 3 + 300 * 5, model.nanos(Plan.GATHER, many), 1e-6);
    assertEquals(10_000 + 8000 * 0.4 + 1000, model.nanos(Plan.SCAN, filtered), 1e-6);
    assertEquals(90, model.nanos(Plan.CPU, filtered), 0);
  }

  /** Vectors of few components are read once for every sixteen queries, up to 64. */
  public void testFewQueriesHaveAFormulaOfTheirOwn() {
    CostModel model = model();
    for (int vectors : new int[] {VECTORS, 200_000, 1_000_000}) {
      int most = vectors == VECTORS ? 64 : vectors == 200_000 ? 32 : 16;
      for (int batch : new int[] {1, 16, 17, 32, 33, 64, 65, 1000}) {
        Workload task = scanned(vectors, batch);
        CostForm form = model.form(Plan.SCAN, task);
        assertEquals(batch <= most ? CostForm.SCAN : CostForm.BATCHED_SCAN, form);
        double read = 0.4 * vectors * (batch <= most ? (batch + 15) / 16 : 1);
        double call = batch <= most ? 10_000 : 20_000;
        assertEquals(call + read, model.nanos(Plan.SCAN, task), 1e-3);
      }
    }
  }

  private static Workload scanned(int vectors, int batch) {
    return task(vectors, vectors, Workload.Rows.DEVICE, Workload.Graph.NONE, true, batch);
  }

  /** A smaller device takes longer for work bound by throughput, not for work bound by latency. */
  public void testScaled() {
    CostModel half = model().scaledTo(5);
    Workload task = task(Workload.Rows.DEVICE, Workload.Graph.DEVICE, false);
    assertEquals(10_000 + VECTORS * 0.8, half.nanos(Plan.SCAN, task), 1e-6);
    assertEquals(WALK_NANOS, half.nanos(Plan.GRAPH, task), 0);
    assertEquals(VECTORS, half.nanos(Plan.CPU, task), 0);
  }

  public void testWrongPropertiesAreNamed() {
    for (String key : keys()) {
      Properties properties = new Properties();
      keys().forEach(each -> properties.put(each, "1"));
      assertEquals(1, CostModel.of(properties).handOver(), 0);
      properties.remove(key);
      Exception e = expectThrows(IllegalArgumentException.class, () -> CostModel.of(properties));
      assertTrue(e.getMessage(), e.getMessage().contains(key));
      if (key.contains(".")) {
        for (String wrong : new String[] {"-1", "NaN", "much", "Infinity"}) {
          properties.put(key, wrong);
          e = expectThrows(IllegalArgumentException.class, () -> CostModel.of(properties));
          assertTrue(e.getMessage(), e.getMessage().contains(key));
        }
      }
    }
    Map<CostForm, double[]> none = new EnumMap<>(CostForm.class);
    expectThrows(IllegalArgumentException.class, () -> new CostModel(1, none));
  }

  private static List<String> keys() {
    List<String> keys = new ArrayList<>(List.of("multiprocessors"));
    for (CostForm form : CostForm.values()) {
      form.terms().forEach(term -> keys.add(form.key(term)));
    }
    return keys;
  }

  public void testWrongTasks() {
    Workload.Walk walk = new Workload.Walk(Workload.Graph.NONE, 1, 0, 1, 0, 0);
    Workload.Cpu cpu = new Workload.Cpu(true, 1, 1);
    Exception e =
        expectThrows(
            IllegalArgumentException.class,
            () -> new Workload(10, 4, 16, Workload.Rows.NONE, 11, true, 1, 1, 1, walk, cpu));
    assertTrue(
        e.getMessage(), e.getMessage().contains("accepted") && e.getMessage().contains("11"));
    expectThrows(
        IllegalArgumentException.class,
        () -> new Workload(10, 4, 16, Workload.Rows.NONE, 1, true, 0, 1, 1, walk, cpu));
  }
}
