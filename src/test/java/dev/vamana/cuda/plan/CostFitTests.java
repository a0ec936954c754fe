package dev.vamana.cuda.plan;

import dev.vamana.tools.gpu.CostFit;
import java.util.Arrays;

/** Tests that a fit recovers the coefficients from which times were made. */
public class CostFitTests extends PlanTestCase {

  private static Workload any() {
    int vectors = 1 + random().nextInt(1_000_000);
    return task(
        vectors,
        random().nextInt(vectors + 1),
        random().nextBoolean() ? Workload.Rows.DEVICE : Workload.Rows.HOST,
        Workload.Graph.DEVICE,
        random().nextBoolean(),
        1 + random().nextInt(1000));
  }

  /** Whatever made the times, their prediction comes out; coefficients may share what they make. */
  public void testTimesAreFoundAgain() {
    for (CostForm form : CostForm.values()) {
      CostFit fit = new CostFit();
      double[] made = new double[form.terms().size()];
      for (int t = 0; t < made.length; t++) {
        made[t] = random().nextInt(4) == 0 ? 0 : Math.pow(10, -3 + 3 * random().nextDouble());
      }
      made[0] = 1000 + random().nextInt(100_000);
      for (int i = 0; i < 60; i++) {
        Workload task = any();
        double noise = 1 + 0.02 * random().nextGaussian();
        fit.add(form, task, noise * sum(made, form.quantities(task)));
      }
      assertEquals(60, fit.count(form));
      double[] found = fit.coefficients(form, made);
      double factor = fit.typicalFactor(form, found);
      assertTrue(form + " is off by " + factor, factor < 1.05);
      for (double coefficient : found) {
        assertTrue(coefficient >= 0);
      }
    }
  }

  /** Nothing is said about a term that was never measured. */
  public void testUnseenTermsKeepTheirCoefficient() {
    CostFit fit = new CostFit();
    double[] old = new double[CostForm.SCAN.terms().size()];
    Arrays.fill(old, 7);
    for (int vectors = 1000; vectors < 10_000; vectors += 1000) {
      Workload task = task(vectors, vectors, Workload.Rows.DEVICE, Workload.Graph.NONE, true, 1);
      fit.add(CostForm.SCAN, task, 5000 + vectors);
    }
    double[] found = fit.coefficients(CostForm.SCAN, old);
    assertEquals("host_byte", 7, found[2], 0);
    assertEquals("filter_byte", 7, found[3], 0);
    double[] walk = {1, 2, 3, 4, 5};
    assertArrayEquals(walk, fit.coefficients(CostForm.WALK, walk), 0);
  }

  public void testATimeIsAboveZero() {
    Workload task = task(Workload.Rows.DEVICE, Workload.Graph.NONE, true);
    expectThrows(IllegalArgumentException.class, () -> new CostFit().add(CostForm.SCAN, task, 0));
    expectThrows(
        IllegalArgumentException.class, () -> new CostFit().add(CostForm.SCAN, task, Double.NaN));
  }

  private static double sum(double[] coefficients, double[] quantities) {
    double sum = 0;
    for (int i = 0; i < coefficients.length; i++) {
      sum += coefficients[i] * quantities[i];
    }
    return sum;
  }
}
