package dev.vamana.tools.gpu;

import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.Workload;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Fits the coefficients of {@link CostForm}s to measured times. It minimizes the squares of the
 * relative errors, so that short times count as much as long ones, and keeps every coefficient at 0
 * or above, so that more work never predicts less time.
 */
public final class CostFit {

  private static final int ROUNDS = 20_000;
  private static final double CONVERGED = 1e-12;

  private final Map<CostForm, List<Sample>> samples = new EnumMap<>(CostForm.class);

  private record Sample(double[] quantities, double nanos) {}

  /**
   * Adds a measured time.
   *
   * @param nanos above 0
   */
  public void add(CostForm form, Workload task, double nanos) {
    if (!(nanos > 0)) {
      throw new IllegalArgumentException("a measured time must be above 0, got " + nanos);
    }
    samples
        .computeIfAbsent(form, unseen -> new ArrayList<>())
        .add(new Sample(form.quantities(task), nanos));
  }

  /** Returns the number of times added. */
  public int count(CostForm form) {
    return samples.getOrDefault(form, List.of()).size();
  }

  /**
   * Returns the best coefficients. A term whose quantity is 0 in all samples keeps its old
   * coefficient.
   *
   * @param old one coefficient per term
   */
  public double[] coefficients(CostForm form, double[] old) {
    List<Sample> own = samples.getOrDefault(form, List.of());
    int terms = form.none().length;
    double[] scale = new double[terms];
    for (Sample sample : own) {
      for (int t = 0; t < terms; t++) {
        double share = sample.quantities[t] / sample.nanos;
        scale[t] += share * share;
      }
    }
    double[] fitted = new double[terms];
    double change = 1;
    for (int round = 0; round < ROUNDS && change > CONVERGED; round++) {
      change = 0;
      for (int t = 0; t < terms; t++) {
        if (scale[t] > 0) {
          double next = Math.max(0, fitted[t] + gradient(own, fitted, t) / scale[t]);
          change = Math.max(change, Math.abs(next - fitted[t]) * Math.sqrt(scale[t]));
          fitted[t] = next;
        }
      }
    }
    for (int t = 0; t < terms; t++) {
      fitted[t] = scale[t] > 0 ? fitted[t] : old[t];
    }
    return fitted;
  }

  private static double gradient(List<Sample> samples, double[] fitted, int term) {
    double sum = 0;
    for (Sample sample : samples) {
      double rest = 1 - dot(fitted, sample.quantities) / sample.nanos;
      sum += rest * sample.quantities[term] / sample.nanos;
    }
    return sum;
  }

  private static double dot(double[] coefficients, double[] quantities) {
    double sum = 0;
    for (int i = 0; i < coefficients.length; i++) {
      sum += coefficients[i] * quantities[i];
    }
    return sum;
  }

  /**
   * Returns the median over samples of the predicted time divided by the measured time, or of the
   * inverse if that is larger.
   */
  public double typicalFactor(CostForm form, double[] coefficients) {
    double[] factors =
        samples.getOrDefault(form, List.of()).stream()
            .mapToDouble(sample -> dot(coefficients, sample.quantities) / sample.nanos)
            .map(ratio -> ratio < 1 ? 1 / ratio : ratio)
            .sorted()
            .toArray();
    return factors.length == 0 ? Double.NaN : factors[factors.length / 2];
  }
}
