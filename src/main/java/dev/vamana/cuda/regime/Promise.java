package dev.vamana.cuda.regime;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What a trial promised of the arm that won it, and whether the arm keeps it: some loads take
 * longer than a window to show what an arm does to them. A single window says nothing. Threads that
 * collect garbage or compile may take the processors for as long as that, whoever answers. Guarded
 * by the controller.
 */
final class Promise {

  /** Windows that are looked at together. */
  private static final int WINDOWS = 8;

  /** Time after which fewer windows are enough, if they are long. */
  private static final long LONG_ENOUGH = 2_000_000_000L;

  /** Part of the windows that have to be below what the other arm did. */
  private static final double MOST = 0.75;

  /** Logarithm of the part by which an arm may do less than the other did. */
  private static final double TOLERANCE = 0.05;

  /** Standard deviations that answers which come at random may be fewer. */
  private static final double DEVIATIONS = 3;

  /** Part of the callers of the trial that show that there are no fewer now. */
  private static final double SAME_LOAD = 0.95;

  private final Window promised;
  private final Window other;
  private final Deque<Window> last = new ArrayDeque<>();

  /**
   * Makes one of which nothing has been kept or broken.
   *
   * @param promised what the arm did when it was compared
   * @param other what the other arm did
   */
  Promise(Window promised, Window other) {
    this.promised = promised;
    this.other = other;
  }

  /** Adds a window of the arm that won. */
  void add(Window window) {
    if (last.size() == WINDOWS) {
      last.removeFirst();
    }
    last.addLast(window);
  }

  /** Forgets the windows that were added, since something has changed. */
  void forgetWindows() {
    last.clear();
  }

  /** Whether the arm, with as many callers as then, does clearly less than the other did. */
  boolean isBroken() {
    Window kept = kept();
    if ((last.size() < WINDOWS && kept.nanos() < LONG_ENOUGH)
        || kept.inFlight() < promised.inFlight() * SAME_LOAD
        || last.stream().filter(window -> isLess(window, other, 0)).count() < MOST * last.size()) {
      return false;
    }
    return isSurelyLess(kept, other);
  }

  private static boolean isSurelyLess(Window window, Window than) {
    return isLess(window, than, DEVIATIONS * Math.sqrt(1.0 / window.count() + 1.0 / than.count()));
  }

  private static boolean isLess(Window window, Window than, double chance) {
    return Math.log(window.rate() / than.rate()) < -(TOLERANCE + chance);
  }

  /**
   * Whether a trial says nothing against the arm, since something else disturbed it: with as many
   * callers it did clearly less than lately, and what the other arm did is not more than that.
   *
   * @param own what the arm did in the trial
   * @param others what the other arm did in the trial
   */
  boolean isDisturbed(Window own, Window others) {
    Window lately = kept();
    return lately.count() > 0
        && own.inFlight() >= lately.inFlight() * SAME_LOAD
        && others.rate() < lately.rate()
        && isSurelyLess(own, lately);
  }

  /** Returns what the arm did lately. */
  Window kept() {
    return last.stream().reduce(Window.NONE, Window::plus);
  }

  /** Returns the other arm's promise, if it is chosen now: to do no less than this one kept. */
  Promise ofOther() {
    return new Promise(other, kept());
  }
}
