package dev.vamana.cuda.ahead;

import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.Stream;

/**
 * One query, from its first step on: what was sent along, and the answers until they are asked for.
 * Thread-safe; segments may be searched by several threads.
 */
final class Flight {

  private static final long POLL_NANOS = 1_000_000;

  private final Set<Step> asked = ConcurrentHashMap.newKeySet();
  private final Habit habit;
  private final List<Step> steps = new ArrayList<>();
  private List<WorkItem> others = new ArrayList<>();
  private final QueryVector copy;
  private final AtomicIntegerArray taken;
  private final CountDownLatch landed = new CountDownLatch(1);
  private volatile WorkResult[] results;

  /**
   * A query that begins.
   *
   * @param step its first
   * @param habit what such queries go on with
   */
  Flight(Step step, WorkItem item, Habit habit) {
    asked.add(step);
    this.habit = habit;
    List<Step> expected = habit.steps();
    // an application may write the next query into the same array
    this.copy = expected.isEmpty() ? null : copy(item.query());
    for (Step next : expected) {
      WorkItem other = next.item(copy, item.cancelled());
      if (other == null) {
        habit.forget(next);
      } else {
        steps.add(next);
        others.add(other);
      }
    }
    this.taken = new AtomicIntegerArray(steps.size());
    this.results = new WorkResult[steps.size()];
  }

  private static QueryVector copy(QueryVector query) {
    return query.floats() != null
        ? QueryVector.of(query.floats().clone())
        : QueryVector.of(query.bytes().clone());
  }

  Habit habit() {
    return habit;
  }

  /** Whether something is of a segment. */
  boolean mentions(SegmentView segment) {
    return Stream.concat(asked.stream(), steps.stream())
        .anyMatch(step -> step.segment().equals(segment));
  }

  /** What is sent along with the first step; for the thread that begins, once. */
  List<WorkItem> others() {
    List<WorkItem> items = others;
    // whether a search is cancelled is asked of objects that should not outlive it
    others = null;
    return items;
  }

  /**
   * The answers are there, or will not come.
   *
   * @param found one for each of what was sent along, null where there is none; or null
   */
  void land(List<WorkResult> found) {
    WorkResult[] usable = new WorkResult[steps.size()];
    for (int i = 0; found != null && i < usable.length; i++) {
      WorkResult result = found.get(i);
      usable[i] = result != null && result.complete() ? result : null;
    }
    results = usable;
    landed.countDown();
  }

  /**
   * The answer of a step that was sent along, once; waits while it is under way.
   *
   * @return null if it was not sent along, has been taken, failed, or nobody wants it any more
   */
  WorkResult take(Step step, WorkItem item) {
    int i = steps.indexOf(step);
    if (i < 0 || taken.compareAndSet(i, 0, 1) == false) {
      return null;
    }
    boolean interrupted = false;
    boolean there = false;
    while (there == false && item.cancelled().getAsBoolean() == false) {
      try {
        there = landed.await(POLL_NANOS, TimeUnit.NANOSECONDS);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return there ? results[i] : null;
  }

  /**
   * Whether an item in the same array goes on with this query; it counts as asked for then. If not,
   * it begins another: its values differ, or it asks what this query has asked before.
   */
  boolean goesOn(Step step, WorkItem item) {
    return differs(item.query()) == false && asked.add(step);
  }

  private boolean differs(QueryVector query) {
    return copy != null
        && (query.floats() != null
            ? Arrays.equals(query.floats(), copy.floats()) == false
            : Arrays.equals(query.bytes(), copy.bytes()) == false);
  }

  /** The query is over: what was not taken was sent in vain. Returns how many steps. */
  int retire() {
    int vain = 0;
    for (int i = 0; i < taken.length(); i++) {
      if (taken.compareAndSet(i, 0, 1)) {
        habit.unused(steps.get(i));
        vain++;
      } else {
        habit.used(steps.get(i));
      }
    }
    return vain;
  }
}
