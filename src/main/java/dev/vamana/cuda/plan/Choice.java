package dev.vamana.cuda.plan;

/**
 * The plan chosen for a task.
 *
 * @param waiting predicted nanoseconds of waiting for other work
 * @param work predicted nanoseconds of the plan's own work
 */
public record Choice(Plan plan, double waiting, double work) {

  /** Returns the predicted nanoseconds, waiting included. */
  public double nanos() {
    return waiting + work;
  }
}
