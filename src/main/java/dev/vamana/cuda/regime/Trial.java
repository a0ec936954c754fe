package dev.vamana.cuda.regime;

import java.util.Arrays;

/**
 * Two arms in turns, a window each: A B, B A, A B ... so that a slow drift of the load hits both
 * alike. More work done in the same time decides; if both do the same, because callers ask no
 * faster than that, the shorter wait does.
 */
final class Trial {

  /** Windows of one arm whose numbers of callers differ by more show that the load has changed. */
  private static final double OTHER_LOAD = 3;

  /** Least deviations in parts of the deviation of requests that come at random. */
  private static final double RATE_CHANCE = 0.35;

  private static final double WAIT_CHANCE = 0.25;

  private static final int MOST_DISTURBANCES = 3;

  /** Pairs after which waits decide if what was done points to the same arm. */
  private static final int ENOUGH = 4;

  private final Arm incumbent;
  private final Arm challenger;
  private final boolean known;
  private Pairs rates = new Pairs();
  private Pairs waits = new Pairs();
  private int windows;
  private Window first;
  private final double[] callers = new double[2];
  private final Window[] sums = {Window.NONE, Window.NONE};
  private long incumbentNanos;
  private long challengerNanos;
  private int disturbances;

  /**
   * Begins with a window of the incumbent.
   *
   * @param known whether an earlier trial found the incumbent better
   */
  Trial(Arm incumbent, Arm challenger, boolean known) {
    this.incumbent = incumbent;
    this.challenger = challenger;
    this.known = known;
  }

  Arm incumbent() {
    return incumbent;
  }

  Arm challenger() {
    return challenger;
  }

  /** Returns the arm of the next window. */
  Arm arm() {
    return isChallenger() ? challenger : incumbent;
  }

  private boolean isChallenger() {
    return (windows & 3) == 1 || (windows & 3) == 2;
  }

  /** Whether there was a window. */
  boolean begun() {
    return windows > 0;
  }

  /** Counts time in which the present arm was chosen. */
  void spent(long nanos) {
    if (isChallenger()) {
      challengerNanos += nanos;
    } else {
      incumbentNanos += nanos;
    }
  }

  /**
   * Adds a window of the present arm.
   *
   * @return whether it is one of the trial's load; otherwise it counts for nothing
   */
  boolean add(Window window) {
    int which = isChallenger() ? 1 : 0;
    double now = window.callers();
    double before = callers[which];
    if (before > 0 && Window.differ(now, before, OTHER_LOAD)) {
      disturb();
      if (now > before) {
        beginAgain();
      }
      return false;
    }
    callers[which] = now;
    sums[which] = sums[which].plus(window);
    if ((windows & 1) == 0) {
      first = window;
    } else {
      Window own = which == 1 ? first : window;
      Window other = which == 1 ? window : first;
      double chance = Math.sqrt(1.0 / own.count() + 1.0 / other.count());
      rates.add(other.rate() / own.rate(), RATE_CHANCE * chance);
      waits.add(own.meanWait() / other.meanWait(), WAIT_CHANCE * chance);
    }
    windows++;
    return true;
  }

  /**
   * Forgets all windows: those before were the odd ones. Callers who pause for a moment look like
   * few callers.
   */
  private void beginAgain() {
    rates = new Pairs();
    waits = new Pairs();
    windows = 0;
    Arrays.fill(callers, 0);
    Arrays.fill(sums, Window.NONE);
  }

  /** Counts a window of another load. */
  void disturb() {
    disturbances++;
  }

  /** Whether the load changed so often that the trial says nothing. */
  boolean disturbed() {
    return disturbances > MOST_DISTURBANCES;
  }

  /** Returns how the challenger compares, after an even number of windows; OPEN after an odd. */
  Pairs.Verdict verdict() {
    if ((windows & 1) == 1 || windows == 0) {
      return Pairs.Verdict.OPEN;
    }
    boolean last = rates.count() >= Pairs.MOST;
    Pairs.Verdict byRate = rates.verdict(known);
    Pairs.Verdict byWait = waits.verdict(false);
    if (byRate == Pairs.Verdict.BETTER || byRate == Pairs.Verdict.WORSE) {
      // requests that come at random may have come more often to the arm that is slower
      boolean doubted =
          waits.mean() * rates.mean() < 0
              && Math.abs(waits.mean()) > Pairs.MARGIN
              && rates.sure() == false;
      if (doubted == false) {
        return byRate;
      }
      return last ? byWait : Pairs.Verdict.OPEN;
    }
    boolean agree = waits.mean() * rates.mean() > 0 && rates.count() >= ENOUGH;
    if (last || agree || byRate == Pairs.Verdict.EQUAL) {
      return last && byWait == Pairs.Verdict.OPEN ? Pairs.Verdict.EQUAL : byWait;
    }
    return Pairs.Verdict.OPEN;
  }

  /**
   * Whether the challenger is to be chosen. Of two that are as good it is the CPU, if it is one.
   */
  boolean isWon(Pairs.Verdict verdict) {
    return verdict == Pairs.Verdict.BETTER
        || (verdict == Pairs.Verdict.EQUAL && challenger == Arm.CPU);
  }

  /** Whether one of the arms did far less. */
  boolean far() {
    return Math.abs(rates.mean()) > Pairs.FAR;
  }

  /** Returns all windows of an arm together. */
  Window sum(boolean ofChallenger) {
    return sums[ofChallenger ? 1 : 0];
  }

  /** Returns the time that the arm which lost was chosen. */
  long lostNanos(boolean challengerWon) {
    return challengerWon ? incumbentNanos : challengerNanos;
  }
}
