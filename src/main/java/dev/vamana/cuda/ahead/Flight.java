package dev.vamana.cuda.ahead;

import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
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

  /** Bytes that are given back together: all callers share the count. */
  private static final long GIVEN_BACK = 1 << 14;

  private final Step first;
  private final Habit habit;
  private final AnswerMemory memory;
  private final Steps steps;
  private List<WorkItem> others;
  private final QueryVector copy;
  private final Landing landing = new Landing();
  private final int number;
  private final boolean refused;
  // a bit for each step that a call has asked for
  private final AtomicLong asked = new AtomicLong();
  // steps that were not sent along; null without
  private volatile Set<Step> further;
  // a bit for each step whose answer a call has claimed, or all once the query has ended
  private final AtomicLong claimed = new AtomicLong();
  // guarded by this, like what follows
  private final WorkResult[] results;
  // a bit for each step that the device has answered, in time or not
  private long sent;
  // bytes reserved for each answer; 0 after its release
  private final int[] bytes;
  private long reserved;
  private long released;

  /**
   * Begins a query.
   *
   * @param number number of queries that began before this one
   * @param step the query's first step
   * @param habit the steps that earlier queries took after this one
   * @param memory counts the answers until they are taken; if it refuses, nothing is sent ahead
   */
  Flight(int number, Step step, WorkItem item, Habit habit, AnswerMemory memory) {
    this.first = step;
    this.number = number;
    this.habit = habit;
    this.memory = memory;
    Steps expected = habit.rests() ? Steps.NONE : habit.steps();
    // an application may write the next query into the same array
    this.copy = expected.size() == 0 ? null : copy(item.query());
    List<WorkItem> items = new ArrayList<>(expected.size());
    int[] ofItems = new int[expected.size()];
    List<Step> kept = new ArrayList<>(expected.size());
    long sum = 0;
    for (int i = 0; i < expected.size(); i++) {
      WorkItem other = expected.get(i).item(copy, item.cancelled());
      if (other == null) {
        habit.forget(expected.get(i));
      } else {
        int hits = Math.min(other.k(), other.acceptedCount());
        ofItems[items.size()] = ANSWER_BYTES + HIT_BYTES * hits;
        sum += ofItems[items.size()];
        items.add(other);
        kept.add(expected.get(i));
      }
    }
    this.refused = items.isEmpty() == false && memory.reserve(sum) == false;
    if (refused) {
      items.clear();
      kept.clear();
    }
    this.steps = kept.size() == expected.size() ? expected : new Steps(kept);
    this.reserved = refused ? 0 : sum;
    this.others = items;
    this.bytes = ofItems;
    this.results = new WorkResult[steps.size()];
  }

  /** Returns a bit for each of some steps. */
  static long all(int steps) {
    return (1L << steps) - 1;
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
    Set<Step> others = further;
    return Stream.of(List.of(first), steps.list(), others == null ? List.<Step>of() : others)
        .flatMap(Collection::stream)
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
    int count;
    synchronized (this) {
      for (int i = 0; i < results.length; i++) {
        WorkResult result = found.isEmpty() ? null : found.get(i);
        sent |= result == null ? 0 : 1L << i;
        if (result != null && result.complete() && bytes[i] > 0) {
          results[i] = result;
        } else {
          letGo(i);
        }
      }
      count = Long.bitCount(sent);
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
    released += bytes[i];
    reserved -= bytes[i];
    bytes[i] = 0;
    if (released > 0 && (reserved == 0 || released >= GIVEN_BACK)) {
      memory.release(released);
      released = 0;
    }
  }

  /**
   * Takes the answer of a step that was sent ahead. Waits while the answer is under way; each
   * answer can be taken once.
   *
   * @return null if the step was not sent ahead, has been taken, failed, or the item is cancelled
   */
  WorkResult take(Step step, WorkItem item) {
    int i = steps.indexOf(step);
    if (i < 0 || set(claimed, i) == false) {
      return null;
    }
    landing.await(item.cancelled());
    synchronized (this) {
      WorkResult found = results[i];
      letGo(i);
      return found;
    }
  }

  /** Sets a bit, and returns whether it was not set. */
  private static boolean set(AtomicLong bits, int i) {
    long bit = 1L << i;
    return (bits.getAndUpdate(old -> old | bit) & bit) == 0;
  }

  /**
   * Whether an item with the same array belongs to this query; if so, its step is recorded. The
   * item begins another query if its values differ or if this query has searched the same step
   * before.
   */
  boolean goesOn(Step step, WorkItem item) {
    return differs(item.query()) == false && isNew(step);
  }

  private boolean isNew(Step step) {
    int i = steps.indexOf(step);
    if (i >= 0) {
      return set(asked, i);
    }
    return step.equals(first) == false && further().add(step);
  }

  private Set<Step> further() {
    if (further == null) {
      synchronized (this) {
        if (further == null) {
          further = ConcurrentHashMap.newKeySet();
        }
      }
    }
    return further;
  }

  private boolean differs(QueryVector query) {
    return copy != null
        && (query.floats() != null
            ? Arrays.equals(query.floats(), copy.floats()) == false
            : Arrays.equals(query.bytes(), copy.bytes()) == false);
  }

  /** Ends the query. Returns how many answers nobody has taken. */
  synchronized int retire() {
    long taken = claimed.getAndSet(-1);
    habit.ended(steps, taken & all(steps.size()));
    release(taken);
    return Long.bitCount(sent & ~taken);
  }

  /** Releases the answers that no call has claimed. */
  synchronized void drop() {
    release(claimed.getAndSet(-1));
  }

  private void release(long taken) {
    for (int i = 0; i < results.length; i++) {
      if (((taken >>> i) & 1) == 0) {
        letGo(i);
      }
    }
  }
}
