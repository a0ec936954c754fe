package dev.vamana.cuda.plan;

/**
 * A plan that was chosen.
 *
 * @param waiting nanoseconds that it is predicted to wait for others
 * @param work nanoseconds that it is predicted to take once it begins
 */
public record Choice(Plan plan, double waiting, double work) {

  /** Nanoseconds that it is predicted to take, waiting included. */
  public double nanos() {
    return waiting + work;
  }
}
