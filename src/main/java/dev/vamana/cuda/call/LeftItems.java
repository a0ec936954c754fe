package dev.vamana.cuda.call;

import dev.vamana.cuda.count.Places;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;

/**
 * Counts and times contested items of single queries that the CPU answers without a plan of their
 * own. A node may have hundreds of thousands of them a second, each of a few microseconds. Then one
 * of several is compared with its prediction, and stands for those before it on its thread.
 * Thread-safe.
 */
public final class LeftItems {

  // what the numbers are: items since one was compared, their work, the item that is compared next,
  // and how many were
  private static final int ITEMS = 0;
  private static final int WORK = 1;
  private static final int NEXT = 2;
  private static final int COMPARED = 3;

  private final Contests contests;
  private final ExecutorCounters counters;

  // Threads that share a place may overwrite each other's numbers. That changes what an item stands
  // for, not how many items are counted.
  private final long[] places = Places.make();

  /**
   * Makes an instance that has counted nothing.
   *
   * @param contests hears of every item
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
    long since = contests.now();
    if (contests.isDue(segment, known, since)) {
      return null;
    }
    counters.left(known.way() == CpuExecutor.Way.SCAN);
    int place = contests.begins(since);
    return () -> ended(known, place, since);
  }

  private void ended(Contests.Known known, int place, long since) {
    long now = contests.now();
    contests.ended(known.contest(), place, since, now);
    double own = known.contest().work();
    long items = places[place + ITEMS] + 1;
    long work = places[place + WORK] + (long) own;
    if (items < places[place + NEXT]) {
      places[place + ITEMS] = items;
      places[place + WORK] = work;
      return;
    }
    places[place + ITEMS] = 0;
    places[place + WORK] = 0;
    places[place + NEXT] = next(contests.oneOf(), places[place + COMPARED]++);
    // the others' times are to this one's as their work is: a segment may be many times larger
    double times = own > 0 ? work / own : items;
    counters.plans.addTimes(
        Plan.CPU, (int) items, work * contests.pace(), (long) ((now - since) * times));
  }

  /** Varies the number, so that not always the same segments of a query are compared. */
  private static int next(int oneOf, long compared) {
    int by = oneOf / 4;
    return oneOf - by + Math.floorMod(compared, 2 * by + 1);
  }
}
