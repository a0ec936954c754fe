package dev.vamana.cuda.call;

import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * State that calls of an executor share: the open segments, how many items are under way, who
 * answers, and the routes of single queries by segment, so that each is planned once. {@link
 * CallPlanner} compares the grounds of a route before it uses the route again. {@code GpuExecutor}
 * has one instance, and uses a route without the comparison for items that the CPU answers, within
 * the window in which it was planned. Thread-safe.
 */
public final class Routes {

  /** Routes that are remembered for a segment. */
  private static final int MOST = 8;

  /** Items under way. */
  public final PlanLoad load = new PlanLoad();

  /** Decides between the CPU and the device. */
  public final WhoAnswers who = new WhoAnswers(load.processors, System.nanoTime());

  private final Map<SegmentView, Known[]> segments = new ConcurrentHashMap<>();
  // open segments, wherever they are, that the same queries search
  private final Map<Object, Set<SegmentView>> families = new ConcurrentHashMap<>();

  /**
   * A route that was planned.
   *
   * @param request what the query asks; null if the route is not remembered
   * @param kind kind of the query, if both sides answer it alike; otherwise null
   * @param work nanoseconds that an idle CPU is expected to take for the item; 0 without a kind
   * @param window {@link WhoAnswers#window} when it was planned last
   */
  public record Known(
      Request request, Route route, WhoAnswers.Kind kind, double work, long window) {

    /** Returns how the CPU answers as the device would. */
    public CpuExecutor.Way way() {
      return route.way();
    }
  }

  /** Returns the last route of items like a single query's item, on whatever grounds; or null. */
  public Known find(WorkItem item) {
    return first(item.segment(), known -> known.request.matches(item));
  }

  /**
   * Returns the last route of exact answers to single queries without a filter, on whatever
   * grounds; or null.
   */
  public Known findScan(SegmentView segment, int k) {
    return first(
        segment,
        known ->
            known.request.k() == k
                && known.request.live() == null
                && known.way() == CpuExecutor.Way.SCAN);
  }

  private Known first(SegmentView segment, Predicate<Known> wanted) {
    Known[] known = segments.get(segment);
    if (known != null) {
      for (Known each : known) {
        if (wanted.test(each)) {
          return each;
        }
      }
    }
    return null;
  }

  /** Remembers a route in place of an earlier one for the same request. */
  void remember(Known fresh) {
    if (fresh.request != null) {
      segments.merge(fresh.request.segment(), new Known[] {fresh}, (old, own) -> with(old, fresh));
    }
  }

  private static Known[] with(Known[] old, Known fresh) {
    Known[] others =
        Arrays.stream(old)
            .filter(known -> known.request.equals(fresh.request) == false)
            .toArray(Known[]::new);
    int kept = Math.min(others.length, MOST - 1);
    // the latest come last
    Known[] all = Arrays.copyOfRange(others, others.length - kept, others.length + 1);
    all[kept] = fresh;
    return all;
  }

  /** Adds an open segment of this device or another, unless it is there. */
  public void opened(SegmentView segment) {
    families.compute(
        segment.family(),
        (family, before) -> {
          Set<SegmentView> all = before == null ? ConcurrentHashMap.newKeySet() : before;
          all.add(segment);
          return all;
        });
  }

  /**
   * Returns how many segments the same queries search as this one, at least 1: walks over all of
   * them share a launch, and scans by few queries another.
   */
  public int openLike(SegmentView segment) {
    Set<SegmentView> all = families.get(segment.family());
    return all == null ? 1 : Math.max(1, all.size());
  }

  /** Forgets a segment that is being closed, which no call uses any more. */
  public void closing(SegmentView segment) {
    segments.remove(segment);
    Set<SegmentView> left =
        families.computeIfPresent(
            segment.family(),
            (family, all) -> {
              all.remove(segment);
              return all.isEmpty() ? null : all;
            });
    if (left == null) {
      who.forget(segment.family());
    }
  }
}
