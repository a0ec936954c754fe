package dev.vamana.cuda.plan;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * A formula for the time of a plan: a sum of terms, each a quantity of the {@link Workload} times a
 * coefficient in nanoseconds. docs/internals/query-plans.md lists the formulas.
 */
public enum CostForm {
  /** The device compares few queries with every vector, of several segments in one launch. */
  SCAN(
      calls(),
      deviceBytes(true).atEachReading().ofAllSegments(),
      hostBytes(true).ofAllSegments(),
      filterBytes().ofAllSegments(),
      products(true).ofAllSegments(),
      hits().ofAllSegments()),
  /** The device compares many queries with every vector. */
  BATCHED_SCAN(
      calls(),
      deviceBytes(true),
      hostBytes(true),
      filterBytes(),
      products(true),
      components(),
      hits()),
  /** The device compares few queries with the accepted vectors only. */
  GATHER(
      calls(),
      deviceBytes(false).atEachReading(),
      hostBytes(false),
      accepted(),
      asked(),
      products(false),
      hits()),
  /** The device compares many queries with the accepted vectors only. */
  BATCHED_GATHER(
      calls(), deviceBytes(false), hostBytes(false), accepted(), asked(), products(false), hits()),
  /** The device walks with everything in device memory. */
  WALK(calls(), steps(), expansions(), walkBytes(), queries()),
  /** The device walks and reads neighbours over the bus. */
  MAPPED_WALK(calls(), steps(), expansions(), walkBytes(), queries()),
  /** The device walks and the CPU fetches the neighbours. */
  FETCHED_WALK(calls(), steps(), expansions(), walkBytes(), queries()),
  /** The device searches inverted lists. */
  LISTS(calls(), lists(), longest(), codes(), queries()),
  /** The CPU compares queries with all accepted vectors. */
  CPU_SCAN(rounds(), cpuDistances(), cpuProducts()),
  /** The CPU walks. */
  CPU_WALK(rounds(), cpuDistances(), cpuProducts()),
  /**
   * Processor time of handing the items of one call to the device and waking the thread that waits
   * for them. It is part of a plan's cost, not of its predicted time.
   */
  HAND_OVER(calls());

  /**
   * Cost of streaming a file's bytes, relative to the device reading them over the bus once: one
   * thread copies them first. As measured.
   */
  private static final double STREAMED_PASSES = 5;

  /**
   * A launch ends with its longest search. With more queries than this the longest search hardly
   * grows, on the device that was measured.
   */
  private static final int FULL_LAUNCH = 1000;

  /**
   * A term of a formula.
   *
   * @param name name of its coefficient
   * @param throughput whether a device with more multiprocessors needs less time for it
   * @param quantity the quantity that the coefficient multiplies
   */
  record Term(String name, boolean throughput, ToDoubleFunction<Workload> quantity) {

    Term atEachReading() {
      return new Term(name, throughput, task -> task.readings() * quantity.applyAsDouble(task));
    }

    Term ofAllSegments() {
      return new Term(name, throughput, task -> task.segments() * quantity.applyAsDouble(task));
    }
  }

  @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable list of stateless functions
  private final List<Term> terms;

  CostForm(Term... terms) {
    this.terms = List.of(terms);
  }

  /** Returns the terms. */
  List<Term> terms() {
    return terms;
  }

  /** Returns the quantities of all terms. */
  public double[] quantities(Workload task) {
    return terms.stream().mapToDouble(term -> term.quantity().applyAsDouble(task)).toArray();
  }

  /**
   * Returns the sum of all terms. Every item of every call asks for several, so it makes no arrays.
   *
   * @param coefficients nanoseconds of each term
   */
  double nanos(double[] coefficients, Workload task) {
    double sum = 0;
    for (int i = 0; i < coefficients.length; i++) {
      sum += coefficients[i] * terms.get(i).quantity().applyAsDouble(task);
    }
    return sum;
  }

  /** Returns coefficients of 0. */
  public double[] none() {
    return new double[terms.size()];
  }

  /** Returns the name of a coefficient in files. */
  String key(Term term) {
    return name().toLowerCase(Locale.ROOT) + "." + term.name();
  }

  private static Term calls() {
    return new Term("call", false, task -> 1);
  }

  private static double read(Workload task, boolean all) {
    return (double) (all ? task.vectors() : task.accepted()) * task.rowBytes();
  }

  private static Term deviceBytes(boolean all) {
    return new Term(
        "device_byte", true, task -> task.rows() == Workload.Rows.DEVICE ? read(task, all) : 0);
  }

  private static Term hostBytes(boolean all) {
    return new Term("host_byte", false, task -> read(task, all) * passes(task.rows()));
  }

  private static double passes(Workload.Rows rows) {
    return switch (rows) {
      case DEVICE, NONE -> 0;
      case HOST -> 1;
      case STREAMED -> STREAMED_PASSES;
    };
  }

  private static Term filterBytes() {
    return new Term(
        "filter_byte", false, task -> task.filtered() ? (double) task.vectors() / Byte.SIZE : 0);
  }

  /**
   * Time of listing the accepted ordinals on the calling thread and copying the list to the device.
   */
  private static Term accepted() {
    return new Term("accepted", false, Workload::accepted);
  }

  private static Term asked() {
    return new Term("query", true, Workload::batch);
  }

  private static Term products(boolean all) {
    return new Term(
        "product",
        true,
        task ->
            (double) task.batch() * (all ? task.vectors() : task.accepted()) * task.dimension());
  }

  /** Components of the queries, which the host packs and the device copies. */
  private static Term components() {
    return new Term("component", false, task -> (double) task.batch() * task.dimension());
  }

  private static Term hits() {
    return new Term("hit", true, task -> (double) task.batch() * task.k());
  }

  private static Term steps() {
    return new Term("step", false, task -> task.walk().steps());
  }

  /**
   * Nodes whose neighbours one walk fetches, in all steps: a step with more of them takes longer.
   */
  private static Term expansions() {
    return new Term("expansion", false, task -> task.walk().steps() * task.walk().parents());
  }

  private static Term walkBytes() {
    return new Term(
        "byte", true, task -> task.walk().batch() * task.walk().distances() * task.walk().bytes());
  }

  /** Waves of lists, of which a query searches one after the other. */
  private static Term lists() {
    return new Term("list", false, task -> task.walk().steps());
  }

  /**
   * A launch ends with its longest search, and the more queries it has, the fewer blocks search for
   * one of them. The root grows as measured times do.
   */
  private static Term longest() {
    return new Term(
        "longest",
        false,
        task -> task.walk().steps() * Math.sqrt(Math.min(task.walk().batch(), FULL_LAUNCH)));
  }

  private static Term codes() {
    return new Term(
        "bit",
        true,
        task ->
            (double) Byte.SIZE
                * task.walk().batch()
                * task.walk().distances()
                * task.walk().bytes());
  }

  private static Term queries() {
    return new Term("query", true, task -> task.walk().batch());
  }

  private static Term rounds() {
    return new Term("query", false, task -> task.cpu().rounds());
  }

  private static Term cpuDistances() {
    return new Term("distance", false, task -> task.cpu().rounds() * task.cpu().distances());
  }

  private static Term cpuProducts() {
    return new Term(
        "product", false, task -> task.cpu().rounds() * task.cpu().distances() * task.dimension());
  }
}
