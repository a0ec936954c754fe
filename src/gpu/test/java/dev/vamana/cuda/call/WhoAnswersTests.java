package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanChooser;
import dev.vamana.cuda.plan.Workload;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Runs the rule on nodes in simulated time. */
public class WhoAnswersTests extends LuceneTestCase {

  private static final int PROCESSORS = 4;
  private static final long MICRO = 1_000;
  private static final double CPU = 100 * MICRO;
  private static final long SECOND = 1_000_000_000;
  private static final Object FAMILY = new Object();

  private long now = random().nextLong();
  private final WhoAnswers who = new WhoAnswers(PROCESSORS, now);

  /** Costs by which a walk takes so many nanoseconds. */
  private static PlanChooser costs(double device, double cpu) {
    CostModel model = CostModel.shipped();
    for (CostForm form : CostForm.values()) {
      model = model.with(form, form.none());
    }
    return new PlanChooser(
        model
            .with(CostForm.WALK, first(CostForm.WALK, device))
            .with(CostForm.CPU_WALK, first(CostForm.CPU_WALK, cpu)));
  }

  private static double[] first(CostForm form, double value) {
    double[] own = form.none();
    own[0] = value;
    return own;
  }

  private WhoAnswers.Kind kind(double device, double cpu) {
    return kind(device, cpu, false);
  }

  private WhoAnswers.Kind kind(double device, double cpu, boolean format) {
    Workload walk =
        new Workload(
            1_000,
            8,
            32,
            Workload.Rows.DEVICE,
            1_000,
            false,
            10,
            1,
            1,
            new Workload.Walk(Workload.Graph.DEVICE, 1, 10, 1, 100, 32),
            new Workload.Cpu(false, 1, 100));
    return who.kind(FAMILY, walk, costs(device, cpu), format);
  }

  /** Nanoseconds that each of some callers waits. */
  private interface Node {
    double nanos(boolean device, int callers);
  }

  /** Asks for so many seconds; returns the part of the answers that the device gave. */
  private double ask(WhoAnswers.Kind kind, Node node, int callers, double seconds) {
    long end = now + (long) (seconds * SECOND);
    long onDevice = 0;
    long all = 0;
    while (end - now > 0) {
      boolean device = kind.onDevice();
      long waited = (long) node.nanos(device, callers);
      now += Math.max(1, waited / callers);
      who.answered(kind, CPU, waited, now);
      all++;
      onDevice += device ? 1 : 0;
    }
    return onDevice / (double) all;
  }

  /** Predictions decide first: half of a prediction counts for the device, and ties do not. */
  public void testPredictions() {
    assertTrue(kind(1.7 * CPU, CPU).onDevice());
    who.forget(FAMILY);
    assertFalse(kind(1.85 * CPU, CPU).onDevice());
  }

  /** More callers than processors wait for each other on the CPU, and the device has room. */
  public void testLoads() {
    Node node = (device, callers) -> device ? 4 * CPU : CPU * Math.max(1, callers / PROCESSORS);
    WhoAnswers.Kind kind = kind(4 * CPU, CPU);
    assertEquals(0, ask(kind, node, 1, 3), 0);
    assertEquals(1, ask(kind, node, 64, 3), 0.1);
    assertTrue("callers " + who.callers(), who.callers() > 60);
    assertEquals(0, ask(kind, node, 1, 3), 0.1);
    assertTrue("callers " + who.callers(), who.callers() < 1.5);
  }

  /** A device that is slower than predicted is tried, and then seldom. */
  public void testSlowDevice() {
    Node node = (device, callers) -> device ? 3 * CPU : CPU;
    WhoAnswers.Kind kind = kind(CPU / 2, CPU);
    assertTrue("answers that are cold do not count", ask(kind, node, 1, 0.6) > 0.9);
    ask(kind, node, 1, 2);
    assertEquals(0, ask(kind, node, 1, 20), 0.05);
    assertEquals(0, ask(kind, node, 1, 200), 0.01);
  }

  /** A format that searches faster than the model's walk is tried beside a device. */
  public void testFasterFormat() {
    Node node = (device, callers) -> device ? 0.6 * CPU : 0.3 * CPU;
    WhoAnswers.Kind kind = kind(0.6 * CPU, CPU, true);
    assertTrue(kind.onDevice());
    ask(kind, node, 1, 3);
    assertEquals(0, ask(kind, node, 1, 20), 0.05);
  }
}
