package dev.vamana.cuda.call;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.session.ExecutorCounters;
import java.util.HashMap;
import java.util.Map;

/**
 * Adds up the answers of many items, so that the counters are told once: counting each item takes
 * as long as reading it. One thread at a time uses an instance, but several may {@link #add} to
 * one.
 */
final class Tally {

  // a streamed segment has no placement: null, which an EnumMap does not take
  private final Map<Placement, Integer> answered = new HashMap<>();
  private Placement last;
  private int answeredLast;
  private long visited;
  private long steps;

  /** Adds the work of a search. */
  void searched(long visited, long steps) {
    this.visited += visited;
    this.steps += steps;
  }

  /**
   * Adds an item that the device has answered, over a segment in a placement or, if null, a file.
   */
  void answered(Placement placement) {
    // most items of a ticket search one segment
    if (placement != last) {
      flush();
      last = placement;
    }
    answeredLast++;
  }

  private void flush() {
    if (answeredLast > 0) {
      answered.merge(last, answeredLast, Integer::sum);
      answeredLast = 0;
    }
  }

  /** Adds what another tally has. */
  synchronized void add(Tally other) {
    other.flush();
    visited += other.visited;
    steps += other.steps;
    other.answered.forEach((placement, count) -> answered.merge(placement, count, Integer::sum));
  }

  /** Tells the counters. */
  void count(ExecutorCounters counters) {
    flush();
    counters.batches.walked(visited, steps);
    answered.forEach(counters::answered);
  }
}
