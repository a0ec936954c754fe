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
}
