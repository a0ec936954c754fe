package dev.vamana.cuda.ahead;

import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The steps that queries with the same first step usually take next. Thread-safe. */
final class Habit {

  /** Most steps that are remembered: a query has a bit for each. */
  static final int MOST_STEPS = 63;

  /** A step is forgotten after this many queries in a row have not used it. */
  private static final int PATIENCE = 4;

  /** Queries that send nothing ahead after one whose steps were all left to their own calls. */
  private static final int REST = 15;

  private final AtomicInteger resting = new AtomicInteger();
  private final Map<Step, Integer> unused = new ConcurrentHashMap<>();
  private volatile Steps steps = Steps.NONE;

  /** Records that no step that was sent along is answered: their own calls do it, on the CPU. */
  void leftAlone() {
    resting.set(REST);
  }

  /** Lets the next query send, whatever happened to the last. */
  void awake() {
    if (resting.get() > 0) {
      resting.set(0);
    }
  }

  /** Whether the next query sends nothing, because a recent one was left alone. */
  boolean rests() {
    return resting.get() > 0 && resting.getAndDecrement() > 0;
  }

  /** Returns the steps to send along, in the order in which they were first seen. */
  Steps steps() {
    return steps;
  }

  /**
   * Records which of the steps that were sent along a query took.
   *
   * @param taken a bit for each step
   */
  void ended(Steps sent, long taken) {
    if (sent == steps && unused.isEmpty() && taken == Flight.all(sent.size())) {
      return;
    }
    for (int i = 0; i < sent.size(); i++) {
      if (((taken >>> i) & 1) != 0) {
        used(sent.get(i));
      } else {
        unused(sent.get(i));
      }
    }
  }

  /** Records that a query took a step. */
  void used(Step step) {
    if (unused.isEmpty() && steps.indexOf(step) >= 0) {
      return;
    }
    synchronized (this) {
      unused.remove(step);
      if (steps.indexOf(step) < 0 && steps.size() < MOST_STEPS) {
        List<Step> more = new ArrayList<>(steps.list());
        more.add(step);
        steps = new Steps(more);
      }
    }
  }

  /** Records that a query did not take a step that was sent along. */
  synchronized void unused(Step step) {
    if (unused.merge(step, 1, Integer::sum) >= PATIENCE) {
      forget(step);
    }
  }

  /** Forgets a segment that is being closed. */
  synchronized void closing(SegmentView segment) {
    for (Step step : steps.list()) {
      if (step.segment().equals(segment)) {
        forget(step);
      }
    }
  }

  /** Forgets a step. */
  synchronized void forget(Step step) {
    unused.remove(step);
    List<Step> fewer = new ArrayList<>(steps.list());
    fewer.remove(step);
    steps = new Steps(fewer);
  }
}
