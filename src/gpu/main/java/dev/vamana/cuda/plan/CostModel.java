package dev.vamana.cuda.plan;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Predicts the time of each plan with a few formulas ({@link CostForm}), whose coefficients were
 * fitted to times measured on a device. Immutable.
 */
public final class CostModel {

  private static final String RESOURCE = "costs.properties";
  private static final String MULTIPROCESSORS = "multiprocessors";

  private final int multiprocessors;
  private final Map<CostForm, double[]> coefficients;

  /**
   * Makes a model.
   *
   * @param multiprocessors multiprocessors of the device that was measured, at least 1
   * @param coefficients nanoseconds of each term, 0 or more
   */
  public CostModel(int multiprocessors, Map<CostForm, double[]> coefficients) {
    this.multiprocessors = multiprocessors;
    this.coefficients = new EnumMap<>(CostForm.class);
    if (multiprocessors < 1) {
      throw new IllegalArgumentException(
          MULTIPROCESSORS + " must be at least 1, got " + multiprocessors);
    }
    for (CostForm form : CostForm.values()) {
      double[] own = coefficients.get(form);
      List<CostForm.Term> terms = form.terms();
      if (own == null || own.length != terms.size()) {
        throw new IllegalArgumentException(form + " takes " + terms.size() + " coefficients");
      }
      for (int i = 0; i < own.length; i++) {
        // written so that NaN fails too
        if (!(own[i] >= 0 && own[i] < Double.POSITIVE_INFINITY)) {
          throw new IllegalArgumentException(
              form.key(terms.get(i)) + " must be a number from 0, got " + own[i]);
        }
      }
      this.coefficients.put(form, own.clone());
    }
  }

  /** Returns the model that ships with the plugin. */
  public static CostModel shipped() {
    Properties properties = new Properties();
    try (InputStream in = CostModel.class.getResourceAsStream(RESOURCE)) {
      if (in == null) {
        throw new IllegalStateException("there is no resource " + RESOURCE);
      }
      properties.load(new InputStreamReader(in, StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return of(properties);
  }

  /**
   * Reads the coefficients of all formulas.
   *
   * @throws IllegalArgumentException if an entry is missing or out of range; the message names it
   */
  public static CostModel of(Properties properties) {
    Map<CostForm, double[]> coefficients = new EnumMap<>(CostForm.class);
    for (CostForm form : CostForm.values()) {
      coefficients.put(
          form,
          form.terms().stream().mapToDouble(term -> number(properties, form.key(term))).toArray());
    }
    return new CostModel((int) number(properties, MULTIPROCESSORS), coefficients);
  }

  private static double number(Properties properties, String key) {
    String value = properties.getProperty(key);
    if (value == null) {
      throw new IllegalArgumentException("costs name no [" + key + "]");
    }
    try {
      return Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("[" + key + "] must be a number, got [" + value + "]", e);
    }
  }

  /** Returns the coefficients of a formula, one per term. */
  public double[] coefficients(CostForm form) {
    return coefficients.get(form).clone();
  }

  /** Returns the processor time, in nanoseconds, of handing a call's items to the device. */
  public double handOver() {
    return coefficients.get(CostForm.HAND_OVER)[0];
  }

  /**
   * Returns this model with other coefficients of one formula.
   *
   * @param own one per term
   */
  public CostModel with(CostForm form, double... own) {
    Map<CostForm, double[]> all = new EnumMap<>(coefficients);
    all.put(form, own);
    return new CostModel(multiprocessors, all);
  }

  /**
   * Returns this model for a device with another number of multiprocessors: terms limited by
   * throughput are scaled by the ratio. This is crude, but better than the costs of another device
   * unchanged.
   */
  public CostModel scaledTo(int otherMultiprocessors) {
    double factor = multiprocessors / (double) otherMultiprocessors;
    Map<CostForm, double[]> scaled = new EnumMap<>(CostForm.class);
    coefficients.forEach(
        (form, own) -> {
          double[] other = own.clone();
          for (int i = 0; i < other.length; i++) {
            other[i] *= form.terms().get(i).throughput() ? factor : 1;
          }
          scaled.put(form, other);
        });
    return new CostModel(otherMultiprocessors, scaled);
  }

  /** Returns the formula of a plan. */
  public CostForm form(Plan plan, Workload task) {
    return switch (plan) {
      case SCAN -> task.few(task.vectors()) ? CostForm.SCAN : CostForm.BATCHED_SCAN;
      case GATHER -> task.few(task.accepted()) ? CostForm.GATHER : CostForm.BATCHED_GATHER;
      case GRAPH ->
          switch (task.walk().graph()) {
            case MAPPED -> CostForm.MAPPED_WALK;
            case FETCHED -> CostForm.FETCHED_WALK;
            case DEVICE, LISTS, NONE -> CostForm.WALK;
          };
      case LISTS -> CostForm.LISTS;
      case CPU -> task.cpu().scans() ? CostForm.CPU_SCAN : CostForm.CPU_WALK;
    };
  }

  /**
   * Whether the scans of all segments of a task take one launch. Others take one after the other.
   */
  static boolean inOneLaunch(Plan plan, Workload task) {
    return plan == Plan.SCAN && task.scansTogether();
  }

  /**
   * Returns the predicted nanoseconds of a plan: for all segments of the task if their scans take
   * {@linkplain #inOneLaunch one launch}, otherwise for one of them.
   */
  public double nanos(Plan plan, Workload task) {
    CostForm form = form(plan, task);
    Workload priced = inOneLaunch(plan, task) ? task : task.over(1);
    return form.nanos(coefficients.get(form), priced);
  }
}
