package dev.vamana.cuda.ahead;

import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** What queries that begin with one step go on with. Thread-safe. */
final class Habit {

  /** Most steps that are remembered. */
  static final int MOST_STEPS = 63;

  /** A step that so many queries in a row did without is forgotten. */
  private static final int PATIENCE = 4;

  private final Map<Step, Integer> unused = new ConcurrentHashMap<>();
  private volatile List<Step> steps = List.of();

  /** What may be sent along, in the order it was first seen in. */
  List<Step> steps() {
    return steps;
  }

  /** A query went on with a step. */
  void used(Step step) {
    if (steps.contains(step) && unused.isEmpty()) {
      return;
    }
    synchronized (this) {
      unused.remove(step);
      if (steps.contains(step) == false && steps.size() < MOST_STEPS) {
        List<Step> more = new ArrayList<>(steps);
        more.add(step);
        steps = List.copyOf(more);
      }
    }
  }

  /** A query that it was sent along with did without a step. */
  synchronized void unused(Step step) {
    if (unused.merge(step, 1, Integer::sum) >= PATIENCE) {
      forget(step);
    }
  }

  /** A segment is being closed. */
  synchronized void closing(SegmentView segment) {
    for (Step step : steps) {
      if (step.segment().equals(segment)) {
        forget(step);
      }
    }
  }

  /** A step cannot be asked for any more. */
  synchronized void forget(Step step) {
    unused.remove(step);
    List<Step> fewer = new ArrayList<>(steps);
    fewer.remove(step);
    steps = List.copyOf(fewer);
  }
}
