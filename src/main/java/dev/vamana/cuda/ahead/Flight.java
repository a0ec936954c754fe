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
import java.util.stream.Stream;

/**
 * One query, from its first step on: what was sent along, and the answers until they are asked for.
 * Thread-safe; segments may be searched by several threads.
 */
final class Flight {

  private static final long POLL_NANOS = 1_000_000;

  /** Memory of an answer without its hits, about. */
  private static final int ANSWER_BYTES = 128;

  private static final int HIT_BYTES = Integer.BYTES + Float.BYTES;

  private final Set<Step> asked = ConcurrentHashMap.newKeySet();
  private final Habit habit;
  private final AnswerMemory memory;
  private final List<Step> steps = new ArrayList<>();
  private List<WorkItem> others = new ArrayList<>();
  private final QueryVector copy;
  private final CountDownLatch landed = new CountDownLatch(1);
  private final int number;
  private boolean refused;
  // guarded by this, as what follows: whether an answer has been asked for, or nobody may any more
  private final boolean[] taken;
  private final WorkResult[] results;
  // what is reserved for an answer, 0 once it is not held any more
  private final long[] bytes;

  /**
   * A query that begins.
   *
   * @param number how many began before it
   * @param step its first
   * @param habit what such queries go on with
   * @param memory counts the answers until they are asked for; if it refuses them, nothing is sent
   */
  Flight(int number, Step step, WorkItem item, Habit habit, AnswerMemory memory) {
    asked.add(step);
    this.number = number;
    this.habit = habit;
    this.memory = memory;
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
    long[] expectedBytes = new long[steps.size()];
    for (int i = 0; i < expectedBytes.length; i++) {
      int hits = Math.min(others.get(i).k(), others.get(i).acceptedCount());
      expectedBytes[i] = ANSWER_BYTES + (long) HIT_BYTES * hits;
    }
    if (steps.isEmpty() == false && memory.reserve(Arrays.stream(expectedBytes).sum()) == false) {
      steps.clear();
      others.clear();
      refused = true;
    }
    this.bytes = Arrays.copyOf(expectedBytes, steps.size());
    this.taken = new boolean[steps.size()];
    this.results = new WorkResult[steps.size()];
  }

  /** Whether there was no memory for the answers; for the thread that begins. */
  boolean refused() {
    return refused;
  }

  /** How many queries began before this one. */
  int number() {
    return number;
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
    synchronized (this) {
      for (int i = 0; i < results.length; i++) {
        WorkResult result = found == null ? null : found.get(i);
        if (result != null && result.complete() && bytes[i] > 0) {
          results[i] = result;
        } else {
          letGo(i);
        }
      }
    }
    landed.countDown();
  }

  private void letGo(int i) {
    results[i] = null;
    memory.release(bytes[i]);
    bytes[i] = 0;
  }

  /**
   * The answer of a step that was sent along, once; waits while it is under way.
   *
   * @return null if it was not sent along, has been taken, failed, or nobody wants it any more
   */
  WorkResult take(Step step, WorkItem item) {
    int i = steps.indexOf(step);
    if (i < 0 || claim(i) == false) {
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
    synchronized (this) {
      WorkResult found = results[i];
      letGo(i);
      return found;
    }
  }

  private synchronized boolean claim(int i) {
    boolean first = taken[i] == false;
    taken[i] = true;
    return first;
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
  synchronized int retire() {
    int vain = 0;
    for (int i = 0; i < taken.length; i++) {
      if (taken[i]) {
        habit.used(steps.get(i));
      } else {
        habit.unused(steps.get(i));
        vain++;
      }
    }
    drop();
    return vain;
  }

  /** Lets go of the answers that nobody waits for. */
  synchronized void drop() {
    for (int i = 0; i < taken.length; i++) {
      if (taken[i] == false) {
        taken[i] = true;
        letGo(i);
      }
    }
  }
}
