package dev.vamana.cuda.call;

import dev.vamana.cuda.ahead.Ahead;
import dev.vamana.cuda.plan.Contest;
import dev.vamana.cuda.regime.Controller;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.util.Arrays;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Who answers the contested items of an executor, and which items of single queries are contested:
 * what was planned for one is remembered for a while, so that the next which differs only in its
 * query need not be planned if the CPU answers. Thread-safe.
 */
public final class Contests {

  /** Time after which an item is planned again, by one caller: its segment may have gone. */
  private static final long FRESH = 100_000_000;

  /** Time after which an item is forgotten, since that caller has not remembered it again. */
  private static final long OLD = 3 * FRESH;

  /** Time within which an item that is planned again is not remembered again. */
  private static final long YOUNG = FRESH / 4;

  private static final long NOBODY = 0;

  /** Kinds of items that are remembered for a segment. */
  private static final int MOST_KINDS = 4;

  private final LongSupplier clock;
  private final Controller controller;
  private final Map<SegmentView, Known[]> segments = new ConcurrentHashMap<>();

  /**
   * An item that was planned.
   *
   * @param ofBytes {@link dev.vamana.search.QueryVector#ofBytes}
   * @param way how the CPU answers it as the device would
   * @param planned time of the clock
   * @param planner id of the thread that plans it again
   */
  public record Known(
      int k,
      WalkParameters walk,
      boolean filtered,
      int accepted,
      boolean ofBytes,
      Contest contest,
      CpuExecutor.Way way,
      long planned,
      AtomicLong planner) {

    private boolean matches(WorkItem item) {
      return item.k() == k
          && item.acceptedCount() == accepted
          && (item.acceptedOrdinals() != null) == filtered
          && item.walk().equals(walk)
          && item.query().ofBytes() == ofBytes
          && plain(item);
    }

    /** Whether the calling thread plans it again: the first that asks. */
    private boolean isOurs() {
      long own = Thread.currentThread().threadId();
      long first = planner.get();
      // others look only: threads that exchange a value in vain wait for each other
      return first == own || (first == NOBODY && planner.compareAndSet(NOBODY, own));
    }
  }

  /**
   * Makes an instance that has seen nothing.
   *
   * @param clock nanoseconds, never going back
   */
  public Contests(LongSupplier clock) {
    this.clock = clock;
    this.controller = new Controller(clock.getAsLong());
  }

  /** Returns the time of the clock. */
  public long now() {
    return clock.getAsLong();
  }

  /** Whether nothing but the query and the accepted vectors distinguishes the item from others. */
  private static boolean plain(WorkItem item) {
    return item.entryPoints().length == 0
        && item.visitLimit() > item.acceptedCount()
        && item.visitLimit() >= item.segment().size();
  }

  /** Returns what is known of a single query's item; null if it is not known to be contested. */
  public Known find(WorkItem item) {
    return first(item.segment(), known -> known.matches(item));
  }

  /**
   * Returns what is known of exact answers of single queries without a filter; null if they are not
   * known to be contested.
   */
  public Known findScan(SegmentView segment, int k) {
    return first(
        segment,
        known ->
            known.k() == k && known.filtered() == false && known.way() == CpuExecutor.Way.SCAN);
  }

  private Known first(SegmentView segment, Predicate<Known> wanted) {
    Known[] kinds = segments.get(segment);
    if (kinds != null) {
      for (Known known : kinds) {
        if (wanted.test(known)) {
          return known;
        }
      }
    }
    return null;
  }

  /**
   * Remembers that a single query's item is contested.
   *
   * @param now time of the clock
   */
  void remember(WorkItem item, Contest contest, CpuExecutor.Way way, long now) {
    Known known = find(item);
    if (known != null
        && known.contest().equals(contest)
        && known.way() == way
        && now - known.planned() < YOUNG) {
      return;
    }
    // filters differ from query to query, live documents do not
    boolean common =
        item.acceptedOrdinals() == null
            || item.segment().acceptedOrdinals().shared(item.acceptedOrdinals()) != null;
    if (common == false || plain(item) == false) {
      return;
    }
    Known fresh =
        new Known(
            item.k(),
            item.walk(),
            item.acceptedOrdinals() != null,
            item.acceptedCount(),
            item.query().ofBytes(),
            contest,
            way,
            now,
            new AtomicLong(NOBODY));
    segments.merge(item.segment(), new Known[] {fresh}, (old, own) -> with(old, item, fresh));
  }

  private static Known[] with(Known[] old, WorkItem item, Known fresh) {
    Known[] others =
        Arrays.stream(old).filter(known -> known.matches(item) == false).toArray(Known[]::new);
    int kept = Math.min(others.length, MOST_KINDS - 1);
    // the latest come last
    Known[] all = Arrays.copyOfRange(others, others.length - kept, others.length + 1);
    all[kept] = fresh;
    return all;
  }

  /** Forgets a segment that is being closed. */
  public void closing(SegmentView segment) {
    segments.remove(segment);
  }

  /** Returns whether the device answers contested work; null if the cost model is to decide. */
  Boolean onDevice(Contest contest) {
    return switch (controller.arm()) {
      case MODEL -> null;
      case CPU -> false;
      case DEVICE -> true;
      case SPLIT -> contest.favoursDevice();
    };
  }

  /** Returns who answers an item now. */
  public Ahead.Outlook outlook(Known known) {
    Boolean device = onDevice(known.contest());
    if (device == null) {
      return Ahead.Outlook.OPEN;
    }
    return device ? Ahead.Outlook.DEVICE : Ahead.Outlook.CPU;
  }

  /**
   * Whether the calling thread has to plan an item again. Where many threads ask, planning it on
   * all of them would take longer than answering it.
   */
  boolean isDue(SegmentView segment, Known known, long now) {
    long age = now - known.planned();
    if (age < FRESH) {
      return false;
    }
    if (age < OLD) {
      return known.isOurs();
    }
    segments.computeIfPresent(segment, (same, kinds) -> without(kinds, known));
    return true;
  }

  @SuppressWarnings("ReferenceEquality") // an equal one may have been remembered since
  private static Known[] without(Known[] kinds, Known forgotten) {
    Known[] others = Arrays.stream(kinds).filter(known -> known != forgotten).toArray(Known[]::new);
    return others.length == 0 ? null : others;
  }

  /** Returns {@link Controller#pace}. */
  double pace() {
    return controller.pace();
  }

  /** Records the answer of a single query's item. */
  public void answered(Contest contest, long since, long now) {
    controller.answered(1, contest.work(), contest.favoured(), now - since, now);
  }

  /** As {@link Controller#begins}. */
  int begins(long now) {
    return controller.begins(now);
  }

  /** Records the answer that the thread of a place has ended. */
  void ended(Contest contest, int place, long since, long now) {
    controller.ended(place, contest.work(), contest.favoured(), since, now);
  }

  /** As {@link Controller#oneOf}. */
  int oneOf() {
    return controller.oneOf();
  }

  /** Records the answers of one call. */
  public void answered(Contested sum, long since, long now) {
    if (sum.items() > 0) {
      controller.answered(sum.items(), sum.work(), sum.favoured(), now - since, now);
    }
  }

  /** Returns the controller's counters. */
  public SortedMap<String, SortedMap<String, Long>> totals() {
    return controller.totals();
  }
}
