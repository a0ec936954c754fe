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
  private static final int PLACE = 16;

  private static final int PER_THREAD = PLACES - 1;
  private static final int WANTED = 1;
  private static final int TIMED = 2;

  private static final SearchExecutor.LeftScan NOT_TIMED = () -> {};

  private final Contests contests;
  private final ExecutorCounters counters;

  // By place: items since one was timed, with how many of them one is timed, and how many were.
  // Threads of one place may overwrite each other's, which changes how many items one stands for,
  // not what is counted.
  private final int[] places = new int[PLACES * PLACE];

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
    int items = places[place] + 1;
    if (items < places[place + WANTED]) {
      places[place] = items;
      counters.left(scans);
      return NOT_TIMED;
    }
    long since = contests.now();
    if (contests.isDue(segment, known, since)) {
      return null;
    }
    places[place] = 0;
    places[place + WANTED] = next(contests.oneOf(), places[place + TIMED]++);
    counters.left(scans);
    return () -> ended(known, items, since);
  }

  /** Varies the number, so that not always the same segments of a query are timed. */
  private static int next(int oneOf, int timed) {
    int by = oneOf / 4;
    return oneOf - by + Math.floorMod(timed, 2 * by + 1);
  }

  private void ended(Contests.Known known, int items, long since) {
    long now = contests.now();
    counters.plans.addTimes(Plan.CPU, items, contests.predicted(known.contest()), now - since);
    contests.answered(known.contest(), items, since, now);
  }
}
