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
 * One query from its first step on: the steps sent ahead, and their answers until the query's later
 * calls take them. Thread-safe, since several threads may search the query's segments.
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
   * Begins a query.
   *
   * @param step the query's first step
   * @param habit the steps that earlier queries took after this one
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

  /** Whether a step of this query searches a segment. */
  boolean mentions(SegmentView segment) {
    return Stream.concat(asked.stream(), steps.stream())
        .anyMatch(step -> step.segment().equals(segment));
  }

  /**
   * Returns the items to send along with the first step. Only the thread that begins the query
   * calls this, once.
   */
  List<WorkItem> others() {
    List<WorkItem> items = others;
    // the suppliers of cancellation should not outlive the search
    others = null;
    return items;
  }

  /**
   * Publishes the answers, or that there will be none.
   *
   * @param found one result per item sent ahead, null for missing ones; or null if the search
   *     failed
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
   * Takes the answer of a step that was sent ahead. Waits while the answer is under way; each
   * answer can be taken once.
   *
   * @return null if the step was not sent ahead, has been taken, failed, or the item is cancelled
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
   * Whether an item with the same array belongs to this query; if so, its step is recorded. The
   * item begins another query if its values differ or if this query has searched the same step
   * before.
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

  /** Ends the query. Answers that were not taken were sent in vain; returns their number. */
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
