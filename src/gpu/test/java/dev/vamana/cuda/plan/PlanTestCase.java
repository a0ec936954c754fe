package dev.vamana.cuda.plan;

import java.util.EnumMap;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Base class with tasks and cost models of round numbers. */
public abstract class PlanTestCase extends LuceneTestCase {

  static final int VECTORS = 10_000;
  static final int DIMENSION = 100;
  static final int WALK_NANOS = 100_000;

  /**
   * A model in which an exact call takes 10 microseconds and a nanosecond a kilobyte, a walk 100
   * microseconds, and the CPU a nanosecond a distance.
   */
  static CostModel model() {
    return model(1e-3, 1);
  }

  static CostModel model(double byteNanos, double cpuDistanceNanos) {
    Map<CostForm, double[]> coefficients = new EnumMap<>(CostForm.class);
    coefficients.put(CostForm.SCAN, new double[] {10_000, byteNanos, 1, 1, 0, 0});
    coefficients.put(CostForm.BATCHED_SCAN, new double[] {20_000, byteNanos, 1, 1, 0, 0, 0});
    coefficients.put(CostForm.GATHER, new double[] {10_000, 2 * byteNanos, 2, 0, 0, 0, 0});
    coefficients.put(CostForm.BATCHED_GATHER, new double[] {20_000, 0, 0, 3, 5, 0, 0});
    coefficients.put(CostForm.WALK, new double[] {WALK_NANOS, 0, 0, 0, 0});
    coefficients.put(CostForm.MAPPED_WALK, new double[] {2 * WALK_NANOS, 0, 0, 0, 0});
    coefficients.put(CostForm.FETCHED_WALK, new double[] {3 * WALK_NANOS, 0, 0, 0, 0});
    coefficients.put(CostForm.LISTS, new double[] {WALK_NANOS, 0, 0, 0, 0});
    coefficients.put(CostForm.CPU_SCAN, new double[] {0, cpuDistanceNanos, 0});
    coefficients.put(CostForm.CPU_WALK, new double[] {0, cpuDistanceNanos, 0});
    coefficients.put(CostForm.HAND_OVER, new double[] {0});
    return new CostModel(10, coefficients);
  }

  static Workload task(Workload.Rows rows, Workload.Graph graph, boolean cpuScans) {
    return task(VECTORS, VECTORS, rows, graph, cpuScans, 1);
  }

  static Workload task(
      int vectors,
      int accepted,
      Workload.Rows rows,
      Workload.Graph graph,
      boolean cpuScans,
      int batch) {
    return new Workload(
        vectors,
        DIMENSION,
        4 * DIMENSION,
        rows,
        accepted,
        accepted < vectors,
        10,
        batch,
        1,
        new Workload.Walk(graph, batch, 20, 1, 700, 4 * DIMENSION),
        new Workload.Cpu(cpuScans, batch, accepted));
  }
}
