package dev.vamana.cuda.ahead;

import dev.vamana.cuda.call.Request;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * One query from its first step on: the steps sent ahead, and their answers until the query's later
 * calls take them. Thread-safe, since several threads may search the query's segments. {@link
 * Ahead} has one for each of the last queries.
 */
final class Flight {

  /** Approximate bytes of an answer without its hits. */
  private static final int ANSWER_BYTES = 128;

  private static final int HIT_BYTES = Integer.BYTES + Float.BYTES;
  private static final long POLL_NANOS = 1_000_000;

  private final Request first;
  private final Habit habit;
  private final int number;
  private final AtomicLong memory;
  private final long limit;
  private final QueryVector copy;
  // threads that wait for the answers
  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();
  private volatile boolean landed;
  // steps that were not sent ahead
  private final Set<Request> further = ConcurrentHashMap.newKeySet(1);
  // a bit for each step that a call has asked for
  private final AtomicLong asked = new AtomicLong();
  // none, or the habit's
  private Habit.Steps steps = Habit.Steps.NONE;
  // written before the landing; each is read by the call that has set its bit
  private WorkResult[] answers = {};
  private long reserved;

  /**
   * Begins a query.
   *
   * @param number number of queries that began before this one
   * @param step the query's first step
   * @param habit the steps that earlier queries took after this one
   * @param memory bytes of the answers that wait
   * @param limit most bytes; if the answers would exceed it, nothing is sent ahead
   */
  Flight(int number, Request step, WorkItem item, Habit habit, AtomicLong memory, long limit) {
    this.first = step;
    this.number = number;
    this.habit = habit;
    this.memory = memory;
    this.limit = limit;
    // an application may write the next query into the same array
    this.copy = habit.steps().isEmpty() ? null : copy(item.query());
  }

  private static QueryVector copy(QueryVector query) {
    return query.floats() != null
        ? QueryVector.of(query.floats().clone())
        : QueryVector.of(query.bytes().clone());
  }

  /**
   * Returns the items to send along with the first; null if there is no memory for their answers.
   * Called once, before other threads know this query.
   */
  List<WorkItem> others(WorkItem item) {
    Habit.Steps expected = habit.steps();
    if (copy == null) {
      return List.of();
    }
    List<WorkItem> items = new ArrayList<>(expected.size());
    List<Request> kept = new ArrayList<>(expected.size());
    long bytes = 0;
    for (Request step : expected.list()) {
      WorkItem other = step.item(copy, item.cancelled());
      if (other == null) {
        habit.forget(step);
        continue;
      }
      items.add(other);
      kept.add(step);
      bytes += ANSWER_BYTES + (long) HIT_BYTES * Math.min(other.k(), other.acceptedCount());
    }
    if (memory.addAndGet(bytes) > limit) {
      memory.addAndGet(-bytes);
      return null;
    }
    reserved = bytes;
    steps = kept.size() == expected.size() ? expected : new Habit.Steps(kept);
    return items;
  }

  /** Returns the number of queries that began before this one. */
  int number() {
    return number;
  }

  Habit habit() {
    return habit;
  }

  /** Whether a step of this query searches a segment. */
  boolean mentions(SegmentView segment) {
    return first.segment().equals(segment)
        || steps.list().stream().anyMatch(step -> step.segment().equals(segment))
        || further.stream().anyMatch(step -> step.segment().equals(segment));
  }

  /**
   * Publishes the answers.
   *
   * @param found one result per item, null for each item that was left alone; or none at all, also
   *     before the first segment is searched: the other segments need not wait for that
   * @return the number of results
   */
  int land(List<WorkResult> found) {
    if (landed) {
      return 0;
    }
    WorkResult[] results = found.toArray(new WorkResult[0]);
    int count = 0;
    for (int i = 0; i < results.length; i++) {
      count += results[i] == null ? 0 : 1;
      results[i] = results[i] == null || results[i].complete() == false ? null : results[i];
    }
    answers = results;
    landed = true;
    // a latch wakes one thread after the other: with eight segments that takes as long as a search
    Thread thread;
    while ((thread = waiting.poll()) != null) {
      LockSupport.unpark(thread);
    }
    if (count == 0) {
      release();
    }
    return count;
  }

  /**
   * Takes the answer of a step that was sent ahead, for the call whose item {@link #goesOn}. Waits
   * while the answer is under way.
   *
   * @return null if the step was not sent ahead or failed, or the item is cancelled
   */
  WorkResult take(Request step, WorkItem item) {
    int i = steps.indexOf(step);
    if (i < 0) {
      return null;
    }
    await(item.cancelled());
    if (landed == false || i >= answers.length) {
      return null;
    }
    WorkResult found = answers[i];
    answers[i] = null;
    if (asked.get() == steps.all()) {
      release();
    }
    return found;
  }

  /**
   * Waits until the answers are there, or are not wanted any more. An interrupt does not end the
   * wait; the interrupt status is kept.
   *
   * @param unwanted asked once a millisecond
   */
  private void await(BooleanSupplier unwanted) {
    if (landed) {
      return;
    }
    waiting.add(Thread.currentThread());
    boolean interrupted = false;
    while (landed == false && unwanted.getAsBoolean() == false) {
      LockSupport.parkNanos(this, POLL_NANOS);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Whether an item with the same array belongs to this query; if so, its step is recorded. The
   * item begins another query if its values differ or if this query has searched the same step
   * before.
   */
  boolean goesOn(Request step, WorkItem item) {
    return differs(item.query()) == false && isNew(step);
  }

  private boolean isNew(Request step) {
    int i = steps.indexOf(step);
    if (i < 0) {
      return step.equals(first) == false && further.add(step);
    }
    long bit = 1L << i;
    return (asked.getAndUpdate(old -> old | bit) & bit) == 0;
  }

  private boolean differs(QueryVector query) {
    return copy != null
        && (query.floats() != null
            ? Arrays.equals(query.floats(), copy.floats()) == false
            : Arrays.equals(query.bytes(), copy.bytes()) == false);
  }

  /** Ends the query. Returns how many answers nobody has taken. */
  int retire() {
    habit.ended(steps, asked.get());
    release();
    int left = 0;
    for (WorkResult answer : answers) {
      left += answer == null ? 0 : 1;
    }
    return left;
  }

  /** Gives the memory of the answers back. */
  synchronized void release() {
    memory.addAndGet(-reserved);
    reserved = 0;
  }
}
