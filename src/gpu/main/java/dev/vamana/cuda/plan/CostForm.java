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
      Terms.CALL,
      Terms.deviceBytes(true).atEachReading().ofAllSegments(),
      Terms.hostBytes(true).ofAllSegments(),
      Terms.FILTER_BYTES.ofAllSegments(),
      Terms.products(true).ofAllSegments(),
      Terms.HITS.ofAllSegments()),
  /** The device compares many queries with every vector. */
  BATCHED_SCAN(
      Terms.CALL,
      Terms.deviceBytes(true),
      Terms.hostBytes(true),
      Terms.FILTER_BYTES,
      Terms.products(true),
      Terms.COMPONENTS,
      Terms.HITS),
  /** The device compares few queries with the accepted vectors only. */
  GATHER(
      Terms.CALL,
      Terms.deviceBytes(false).atEachReading(),
      Terms.hostBytes(false),
      Terms.ACCEPTED,
      Terms.ASKED,
      Terms.products(false),
      Terms.HITS),
  /** The device compares many queries with the accepted vectors only. */
  BATCHED_GATHER(
      Terms.CALL,
      Terms.deviceBytes(false),
      Terms.hostBytes(false),
      Terms.ACCEPTED,
      Terms.ASKED,
      Terms.products(false),
      Terms.HITS),
  /** The device walks with everything in device memory. */
  WALK(Terms.CALL, Terms.STEPS, Terms.EXPANSIONS, Terms.WALK_BYTES, Terms.WALKS),
  /** The device walks and reads neighbours over the bus. */
  MAPPED_WALK(Terms.CALL, Terms.STEPS, Terms.EXPANSIONS, Terms.WALK_BYTES, Terms.WALKS),
  /** The device walks and the CPU fetches the neighbours. */
  FETCHED_WALK(Terms.CALL, Terms.STEPS, Terms.EXPANSIONS, Terms.WALK_BYTES, Terms.WALKS),
  /** The device searches inverted lists. */
  LISTS(Terms.CALL, Terms.LISTS, Terms.LONGEST, Terms.CODES, Terms.WALKS),
  /** The CPU compares queries with all accepted vectors. */
  CPU_SCAN(Terms.ROUNDS, Terms.CPU_DISTANCES, Terms.CPU_PRODUCTS),
  /** The CPU walks. */
  CPU_WALK(Terms.ROUNDS, Terms.CPU_DISTANCES, Terms.CPU_PRODUCTS),
  /**
   * Processor time of handing the items of one call to the device and waking the thread that waits
   * for them. It is part of a plan's cost, not of its predicted time.
   */
  HAND_OVER(Terms.CALL);

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

  /** The terms of all formulas. */
  private static final class Terms {
    /**
     * A launch ends with its longest search. With more queries than this the longest search hardly
     * grows, on the device that was measured.
     */
    private static final int FULL_LAUNCH = 1000;

    static final Term CALL = new Term("call", false, task -> 1);
    static final Term FILTER_BYTES =
        new Term("filter_byte", false, task -> task.filtered() ? (double) task.vectors() / 8 : 0);
    // listing the accepted ordinals on the calling thread and copying the list to the device
    static final Term ACCEPTED = new Term("accepted", false, Workload::accepted);
    static final Term ASKED = new Term("query", true, Workload::batch);
    // of the queries, which the host packs and the device copies
    static final Term COMPONENTS =
        new Term("component", false, task -> (double) task.batch() * task.dimension());
    static final Term HITS = new Term("hit", true, task -> (double) task.batch() * task.k());
    static final Term STEPS = new Term("step", false, task -> task.walk().steps());
    // nodes whose neighbours one walk fetches, in all steps: with more of them a step takes longer
    static final Term EXPANSIONS =
        new Term("expansion", false, task -> task.walk().steps() * task.walk().parents());
    static final Term WALK_BYTES = new Term("byte", true, Terms::walkBytes);
    // waves of lists, of which a query searches one after the other
    static final Term LISTS = new Term("list", false, task -> task.walk().steps());
    // the more queries a launch has, the fewer blocks search for one of them; the root grows as
    // measured times do
    static final Term LONGEST =
        new Term(
            "longest",
            false,
            task -> task.walk().steps() * Math.sqrt(Math.min(task.walk().batch(), FULL_LAUNCH)));
    static final Term CODES = new Term("bit", true, task -> Byte.SIZE * walkBytes(task));
    static final Term WALKS = new Term("query", true, task -> task.walk().batch());
    static final Term ROUNDS = new Term("query", false, task -> task.cpu().rounds());
    static final Term CPU_DISTANCES = new Term("distance", false, Terms::cpuDistances);
    static final Term CPU_PRODUCTS =
        new Term("product", false, task -> cpuDistances(task) * task.dimension());

    private static double walkBytes(Workload task) {
      return task.walk().batch() * task.walk().distances() * task.walk().bytes();
    }

    private static double cpuDistances(Workload task) {
      return task.cpu().rounds() * task.cpu().distances();
    }

    private static double read(Workload task, boolean all) {
      return (double) (all ? task.vectors() : task.accepted()) * task.rowBytes();
    }

    static Term deviceBytes(boolean all) {
      return new Term(
          "device_byte", true, task -> task.rows() == Workload.Rows.DEVICE ? read(task, all) : 0);
    }

    static Term hostBytes(boolean all) {
      return new Term(
          "host_byte", false, task -> task.rows() == Workload.Rows.HOST ? read(task, all) : 0);
    }

    static Term products(boolean all) {
      return new Term(
          "product",
          true,
          task ->
              (double) task.batch() * (all ? task.vectors() : task.accepted()) * task.dimension());
    }
  }
}
