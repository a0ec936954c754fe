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
import java.util.stream.Stream;

/**
 * One query from its first step on: the steps sent ahead, and their answers until the query's later
 * calls take them. Thread-safe, since several threads may search the query's segments. {@link
 * Ahead} has one for each of the last queries.
 */
final class Flight {

  /** Approximate bytes of an answer without its hits. */
  private static final int ANSWER_BYTES = 128;

  private static final int HIT_BYTES = Integer.BYTES + Float.BYTES;

  private final Set<Step> asked = ConcurrentHashMap.newKeySet();
  private final Habit habit;
  private final AnswerMemory memory;
  private final List<Step> steps = new ArrayList<>();
  private List<WorkItem> others = new ArrayList<>();
  private final QueryVector copy;
  private final Landing landing = new Landing();
  private final int number;
  private boolean refused;
  // whether a call has claimed the answer, or the query has ended; guarded by this, like the next
  // three
  private final boolean[] taken;
  private final WorkResult[] results;
  // whether the device has answered the step, in time or not
  private final boolean[] sent;
  // bytes reserved for each answer; 0 after its release
  private final long[] bytes;

  /**
   * Begins a query.
   *
   * @param number number of queries that began before this one
   * @param step the query's first step
   * @param habit the steps that earlier queries took after this one
   * @param memory counts the answers until they are taken; if it refuses, nothing is sent ahead
   */
  Flight(int number, Step step, WorkItem item, Habit habit, AnswerMemory memory) {
    asked.add(step);
    this.number = number;
    this.habit = habit;
    this.memory = memory;
    List<Step> expected = habit.rests() ? List.of() : habit.steps();
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
    this.sent = new boolean[steps.size()];
  }

  /** Whether the memory refused the answers. Only the thread that begins the query calls this. */
  boolean refused() {
    return refused;
  }

  /** Returns the number of queries that began before this one. */
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
   * @param found one result per item, null for each item that was left alone; or none at all
   * @return the number of results
   */
  int land(List<WorkResult> found) {
    if (asked.size() == 1) {
      habit.atOnce(false);
    }
    int count = 0;
    synchronized (this) {
      for (int i = 0; i < results.length; i++) {
        WorkResult result = found.isEmpty() ? null : found.get(i);
        sent[i] = result != null;
        count += sent[i] ? 1 : 0;
        if (result != null && result.complete() && bytes[i] > 0) {
          results[i] = result;
        } else {
          letGo(i);
        }
      }
    }
    landing.land();
    return count;
  }

  /**
   * Publishes that there will be no answers, before the query's first segment is searched: its
   * other segments need not wait for that.
   */
  void leaveAlone() {
    habit.leftAlone();
    land(List.of());
  }

  private void letGo(int i) {
    results[i] = null;
    memory.release(bytes[i]);
    bytes[i] = 0;
  }

  /**
   * Takes the answer of a step that was sent ahead. Waits while the answer is under way; each
   * answer can be taken once.
   *
   * @return null if the step was not sent ahead, has been taken, failed, or the item is cancelled
   */
  WorkResult take(Step step, WorkItem item) {
    int i = steps.indexOf(step);
    if (i < 0 || claim(i) == false) {
      return null;
    }
    landing.await(item.cancelled());
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
   * Whether an item with the same array belongs to this query; if so, its step is recorded. The
   * item begins another query if its values differ or if this query has searched the same step
   * before.
   */
  boolean goesOn(Step step, WorkItem item) {
    boolean goesOn = differs(item.query()) == false && asked.add(step);
    if (goesOn && landing.landed() == false) {
      habit.atOnce(true);
    }
    return goesOn;
  }

  private boolean differs(QueryVector query) {
    return copy != null
        && (query.floats() != null
            ? Arrays.equals(query.floats(), copy.floats()) == false
            : Arrays.equals(query.bytes(), copy.bytes()) == false);
  }

  /** Ends the query. Returns how many answers nobody has taken. */
  synchronized int retire() {
    int vain = 0;
    for (int i = 0; i < taken.length; i++) {
      if (taken[i]) {
        habit.used(steps.get(i));
      } else {
        habit.unused(steps.get(i));
        vain += sent[i] ? 1 : 0;
      }
    }
    drop();
    return vain;
  }

  /** Releases the answers that no call has claimed. */
  synchronized void drop() {
    for (int i = 0; i < taken.length; i++) {
      if (taken[i] == false) {
        taken[i] = true;
        letGo(i);
      }
    }
  }
}
