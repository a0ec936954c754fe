package dev.vamana.cuda.regime;

import java.util.EnumMap;
import java.util.Map;

/** What was learned at one load; guarded by the controller. */
final class Lesson {

  /** Time of this load between trials in parts of the time that the arm which lost was chosen. */
  private static final int REST = 100;

  private static final int FAR_REST = 4;
  private static final int MOST_PATIENCE = 16;

  /** Least time of this load between trials. */
  static final long LEAST_REST = 5_000_000_000L;

  /** Factor by which callers or work of one load differ from trial to trial, at most. */
  private static final double ALIKE = 1.2;

  private static final long LONGEST_SUSPENSION = 60_000_000_000L;

  /** Time after which a trial begins if waits have changed. */
  private static final long AT_OTHER_WAIT = 1_000_000_000L;

  private static final long AFTER_DISTURBANCE = 1_000_000_000L;
  private static final int MOST_DISTURBANCES = 6;

  private final Map<Arm, Double> callers = new EnumMap<>(Arm.class);
  private double work;
  private Arm arm = Arm.MODEL;
  private int patience = 1;
  private boolean measured;
  private int disturbances;
  private long rest;
  private boolean splitNext;
  private Arm other;
  private Promise promise;
  private boolean regretted;
  private Trial suspended;
  private long suspendedAt;

  /**
   * Makes one of a load that has not been measured.
   *
   * @param shownBy arm of the window that shows the load
   */
  Lesson(Arm shownBy, Window window) {
    know(shownBy, window);
    work = window.meanWork();
  }

  /** The same clients are other callers in flight for an arm that answers sooner. */
  private void know(Arm shownBy, Window window) {
    callers.put(shownBy, window.callers());
  }

  /**
   * Returns how far this load's callers are from a window's: the logarithm of the factor between
   * them, 0 if they are equal.
   *
   * @param shownBy arm of the window
   */
  double callersAway(Arm shownBy, Window window) {
    Double known = callers.get(shownBy);
    return known != null
        ? away(known, window.callers())
        : callers.values().stream()
            .mapToDouble(any -> away(any, window.callers()))
            .min()
            .orElseThrow();
  }

  /** Returns how far the work of an answer is from a window's, as {@link #callersAway}. */
  double workAway(Window window) {
    return away(work, window.meanWork());
  }

  /** Whether the answers of a window are too different to be of this load. */
  boolean hasOtherWork(Window window) {
    return workAway(window) >= Math.log(Lessons.SAME);
  }

  private static double away(double a, double b) {
    return Math.abs(Math.log(a / b));
  }

  Arm arm() {
    return arm;
  }

  /**
   * Whether a lesson is of the same load, as far as one can see while this lesson's arm answers,
   * and chooses another arm.
   */
  boolean contradicts(Lesson old) {
    Double now = callers.get(arm);
    Double then = old.callers.get(arm);
    return old.measured
        && old.arm != arm
        && now != null
        && then != null
        && Math.max(away(now, then), away(work, old.work)) < Math.log(ALIKE);
  }

  boolean measured() {
    return measured;
  }

  /** Chooses an arm until this load has been measured, unless it was. */
  void adopt(Arm neighbours) {
    arm = measured ? arm : neighbours;
  }

  /** Whether a trial may begin. */
  boolean due() {
    return rest <= 0;
  }

  /** Counts time outside of trials in which the node had this load. Other time brings no trial. */
  void watched(long nanos) {
    rest -= nanos;
  }

  /** Keeps a trial until the load comes back. */
  void suspend(Trial trial, long now) {
    suspended = trial;
    suspendedAt = now;
  }

  /** Returns the trial that waits for the load, once; null if there is none. */
  Trial resume() {
    Trial waiting = suspended;
    suspended = null;
    return waiting;
  }

  /** Whether the node may be another one than when a trial was suspended. */
  boolean hasWaitedLong(long now) {
    return now - suspendedAt > LONGEST_SUSPENSION;
  }

  /** Has the next trial begin later, after one that said nothing: each time twice as late. */
  void disturbed() {
    rest = AFTER_DISTURBANCE << disturbances;
    disturbances = Math.min(disturbances + 1, MOST_DISTURBANCES);
  }

  /**
   * Returns the arm to compare with the arm chosen now.
   *
   * @param mixed whether the cost model would have both answer a notable part
   */
  Arm challenger(Arm incumbent, boolean mixed) {
    boolean split = mixed && measured && splitNext && incumbent != Arm.SPLIT;
    splitNext = mixed && measured && split == false;
    if (split) {
      return Arm.SPLIT;
    }
    return incumbent == Arm.DEVICE ? Arm.CPU : Arm.DEVICE;
  }

  /** Notes that callers wait much longer or shorter for the arm than until now. */
  void waitsChanged() {
    rest = Math.min(rest, AT_OTHER_WAIT);
    if (promise != null) {
      promise.forgetWindows();
    }
  }

  /** Whether a trial that this load's arm has lost was disturbed. */
  boolean doubts(Trial lost) {
    return promise != null && promise.isDisturbed(lost.sum(false), lost.sum(true));
  }

  /**
   * Records the result of a trial, and when the next is due.
   *
   * @param won whether the challenger is chosen from now on
   */
  void learn(Trial trial, boolean won) {
    Arm winner = won ? trial.challenger() : trial.incumbent();
    Window ofWinner = trial.sum(won);
    Window ofLoser = trial.sum(won == false);
    other = won ? trial.incumbent() : trial.challenger();
    promise = new Promise(ofWinner, ofLoser);
    regretted = false;
    know(winner, ofWinner);
    know(other, ofLoser);
    work = ofWinner.plus(ofLoser).meanWork();
    boolean confirmed = measured && winner == arm;
    patience = confirmed ? Math.min(2 * patience, MOST_PATIENCE) : 1;
    arm = winner;
    measured = true;
    disturbances = 0;
    long lost = REST * trial.lostNanos(won) * patience * (trial.far() ? FAR_REST : 1);
    rest = Math.max(LEAST_REST, lost);
  }

  /**
   * Takes the other arm of the last trial if this one does not keep what it promised. If the other
   * does even less than this one did, this one comes back, and stays until the next trial: then
   * something made both of them slow. Returns whether the arm has changed.
   *
   * @param window the next window of this load and arm
   */
  boolean regrets(Window window) {
    if (promise == null) {
      return false;
    }
    promise.add(window);
    if (promise.isBroken() == false) {
      return false;
    }
    Arm left = arm;
    arm = other;
    other = left;
    promise = regretted ? null : promise.ofOther();
    regretted = true;
    patience = Math.min(2 * patience, MOST_PATIENCE);
    rest = LEAST_REST * patience;
    return true;
  }
}
