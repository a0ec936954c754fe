package dev.vamana.cuda.ahead;

import dev.vamana.cuda.call.Request;
import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The steps that queries with the same first step usually take next. Thread-safe. */
final class Habit {

  /** Most steps that are remembered: a query has a bit for each. */
  private static final int MOST_STEPS = 63;

  /** A step is forgotten after this many queries in a row have not used it. */
  private static final int PATIENCE = 4;

  private final Map<Request, Integer> unused = new ConcurrentHashMap<>();
  private volatile Steps steps = Steps.NONE;

  /** Steps in the order in which they were first seen. Immutable. */
  static final class Steps {
    static final Steps NONE = new Steps(List.of());

    private final List<Request> list;
    private final Map<Request, Integer> indices = new HashMap<>();

    Steps(List<Request> steps) {
      this.list = List.copyOf(steps);
      for (Request step : list) {
        indices.put(step, indices.size());
      }
    }

    List<Request> list() {
      return list;
    }

    int size() {
      return list.size();
    }

    boolean isEmpty() {
      return list.isEmpty();
    }

    /** Returns the index of a step, or -1. */
    int indexOf(Request step) {
      return indices.getOrDefault(step, -1);
    }

    /** Returns a bit for each step. */
    long all() {
      return (1L << list.size()) - 1;
    }
  }

  /** Returns the steps to send along. */
  Steps steps() {
    return steps;
  }

  /**
   * Records which of the steps that were sent along a query took.
   *
   * @param taken a bit for each step
   */
  void ended(Steps sent, long taken) {
    if (unused.isEmpty() && taken == sent.all()) {
      return;
    }
    for (int i = 0; i < sent.size(); i++) {
      if (((taken >>> i) & 1) != 0) {
        unused.remove(sent.list().get(i));
      } else if (unused.merge(sent.list().get(i), 1, Integer::sum) >= PATIENCE) {
        forget(sent.list().get(i));
      }
    }
  }

  /** Records that a query took a step that was not sent along. */
  synchronized void used(Request step) {
    if (steps.indexOf(step) < 0 && steps.size() < MOST_STEPS) {
      List<Request> more = new ArrayList<>(steps.list());
      more.add(step);
      steps = new Steps(more);
    }
  }

  /** Forgets a segment that is being closed. */
  void closing(SegmentView segment) {
    for (Request step : steps.list()) {
      if (step.segment().equals(segment)) {
        forget(step);
      }
    }
  }

  /** Forgets a step. */
  synchronized void forget(Request step) {
    unused.remove(step);
    List<Request> fewer = new ArrayList<>(steps.list());
    if (fewer.remove(step)) {
      steps = new Steps(fewer);
    }
  }
}
