package dev.vamana.cuda.plan;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * One formula: a sum of terms, each a quantity of the {@link Task} times a coefficient in
 * nanoseconds. docs/internals/query-plans.md writes them out.
 */
public enum CostForm {
  /** Few queries with every vector, on the device. */
  SCAN(calls(), deviceBytes(true), hostBytes(true), filterBytes(), products(true), hits()),
  /** Many queries with every vector, on the device. */
  BATCHED_SCAN(calls(), deviceBytes(true), hostBytes(true), filterBytes(), products(true), hits()),
  /** Few queries with the accepted vectors alone, on the device. */
  GATHER(
      calls(), deviceBytes(false), hostBytes(false), accepted(), asked(), products(false), hits()),
  /** Many queries with the accepted vectors alone, on the device. */
  BATCHED_GATHER(
      calls(), deviceBytes(false), hostBytes(false), accepted(), asked(), products(false), hits()),
  /** A walk with everything in device memory. */
  WALK(calls(), steps(), walkBytes(), queries()),
  /** A walk with neighbours read over the bus. */
  MAPPED_WALK(calls(), steps(), walkBytes(), queries()),
  /** A walk with neighbours that the CPU fetches. */
  FETCHED_WALK(calls(), steps(), walkBytes(), queries()),
  /** The CPU with all accepted vectors. */
  CPU_SCAN(rounds(), cpuDistances(), cpuProducts()),
  /** A walk of the CPU. */
  CPU_WALK(rounds(), cpuDistances(), cpuProducts());

  /**
   * One thread copies the bytes of a file as fast as the device would read a multiple of them over
   * the bus; as measured (docs/internals/query-plans.md).
   */
  private static final double STREAMED_PASSES = 5;

  /**
   * A term of a formula.
   *
   * @param name of its coefficient
   * @param throughput whether a device with more multiprocessors needs less time for it
   * @param quantity what the coefficient is multiplied by
   */
  record Term(String name, boolean throughput, ToDoubleFunction<Task> quantity) {}

  @SuppressWarnings(
      "ImmutableEnumChecker") // a list that cannot be changed, of functions without state
  private final List<Term> terms;

  CostForm(Term... terms) {
    this.terms = List.of(terms);
  }

  /** Its terms. */
  List<Term> terms() {
    return terms;
  }

  /** The quantities of all terms. */
  double[] quantities(Task task) {
    return terms.stream().mapToDouble(term -> term.quantity().applyAsDouble(task)).toArray();
  }

  /** Coefficients that predict no time at all. */
  public double[] none() {
    return new double[terms.size()];
  }

  /** Under which name files keep a coefficient. */
  String key(Term term) {
    return name().toLowerCase(Locale.ROOT) + "." + term.name();
  }

  private static Term calls() {
    return new Term("call", false, task -> 1);
  }

  private static double read(Task task, boolean all) {
    return (double) (all ? task.vectors() : task.accepted()) * task.rowBytes();
  }

  private static Term deviceBytes(boolean all) {
    return new Term(
        "device_byte", true, task -> task.rows() == Task.Rows.DEVICE ? read(task, all) : 0);
  }

  private static Term hostBytes(boolean all) {
    return new Term("host_byte", false, task -> read(task, all) * passes(task.rows()));
  }

  private static double passes(Task.Rows rows) {
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

  /** The calling thread lists the accepted ordinals, and the device gets the list. */
  private static Term accepted() {
    return new Term("accepted", false, Task::accepted);
  }

  private static Term asked() {
    return new Term("query", true, Task::batch);
  }

  private static Term products(boolean all) {
    return new Term(
        "product",
        true,
        task ->
            (double) task.batch() * (all ? task.vectors() : task.accepted()) * task.dimension());
  }

  private static Term hits() {
    return new Term("hit", true, task -> (double) task.batch() * task.k());
  }

  private static Term steps() {
    return new Term("step", false, task -> task.walk().steps());
  }

  private static Term walkBytes() {
    return new Term(
        "byte", true, task -> task.walk().batch() * task.walk().distances() * task.walk().bytes());
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
