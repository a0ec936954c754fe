package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;

/**
 * Counts contested items of single queries that the CPU answers without a plan of their own. A node
 * may have hundreds of thousands of them a second, each of a few microseconds. Then one of several
 * is timed, and stands for those before it on its thread. Thread-safe.
 */
public final class LeftItems {

  /** Threads have a place each, unless there are more, or their ids are that far apart. */
  private static final int PLACES = 256;

  /** Numbers of a place, which fill a line of the processor's cache. */
  private static final int PLACE = 8;

  private static final int PER_THREAD = PLACES - 1;

  // what the numbers are: items since one was timed, their work and what of it the device is
  // expected to do cheaper, the item that is timed next, and how many were
  private static final int ITEMS = 0;
  private static final int WORK = 1;
  private static final int FAVOURED = 2;
  private static final int NEXT = 3;
  private static final int TIMED = 4;

  private static final SearchExecutor.LeftScan NOT_TIMED = () -> {};

  private final Contests contests;
  private final ExecutorCounters counters;

  // Threads that share a place may overwrite each other's numbers. That changes what an item stands
  // for, not how many items are counted.
  private final long[] places = new long[PLACES * PLACE];

  /**
   * Makes an instance that has counted nothing.
   *
   * @param contests hears of the items that are timed
   * @param counters count every item
   */
  public LeftItems(Contests contests, ExecutorCounters counters) {
    this.contests = contests;
    this.counters = counters;
  }

  /**
   * Begins an item that the CPU answers on the calling thread.
   *
   * @return to be told when it has ended; null if the calling thread has to plan the item instead
   */
  public SearchExecutor.LeftScan begin(SegmentView segment, Contests.Known known) {
    int place = ((int) Thread.currentThread().threadId() & PER_THREAD) * PLACE;
    boolean scans = known.way() == CpuExecutor.Way.SCAN;
    int items = (int) places[place + ITEMS] + 1;
    long work = places[place + WORK] + (long) known.contest().work();
    long favoured = places[place + FAVOURED] + (long) known.contest().favoured();
    if (items < places[place + NEXT]) {
      put(place, items, work, favoured);
      counters.left(scans);
      return NOT_TIMED;
    }
    long since = contests.now();
    if (contests.isDue(segment, known, since)) {
      return null;
    }
    put(place, 0, 0, 0);
    places[place + NEXT] = next(contests.oneOf(), places[place + TIMED]++);
    counters.left(scans);
    return () -> ended(known, items, work, favoured, since);
  }

  private void put(int place, int items, long work, long favoured) {
    places[place + ITEMS] = items;
    places[place + WORK] = work;
    places[place + FAVOURED] = favoured;
  }

  /** Varies the number, so that not always the same segments of a query are timed. */
  private static int next(int oneOf, long timed) {
    int by = oneOf / 4;
    return oneOf - by + Math.floorMod(timed, 2 * by + 1);
  }

  private void ended(Contests.Known known, int items, long work, long favoured, long since) {
    long now = contests.now();
    // the others' times are to theirs as their work is: a segment may be many times larger
    double own = known.contest().work();
    long waited = (long) ((now - since) * (own > 0 ? work / own : items));
    counters.plans.addTimes(Plan.CPU, items, work * contests.pace(), waited);
    contests.answered(items, (double) work, (double) favoured, waited, now);
  }
}
