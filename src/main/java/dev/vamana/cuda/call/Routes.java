package dev.vamana.cuda.call;

import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * The routes of single queries, by segment, so that what follows from the request, the segment and
 * its place is decided once. {@link RoutePlanner} compares the grounds of a route before it uses
 * the route again. {@code GpuExecutor} uses a route without that for items that the CPU answers,
 * within the window in which it was planned. Thread-safe.
 */
public final class Routes {

  /** Routes that are remembered for a segment. */
  private static final int MOST = 8;

  private final Map<SegmentView, Known[]> segments = new ConcurrentHashMap<>();

  /**
   * A route that was planned.
   *
   * @param kind kind of the query, if both sides answer it alike; otherwise null
   * @param work nanoseconds that an idle CPU is expected to take for the item; 0 without a kind
   * @param window {@link WhoAnswers#window} when it was planned last
   */
  public record Known(Route route, WhoAnswers.Kind kind, double work, long window) {

    /** Returns how the CPU answers as the device would. */
    public CpuExecutor.Way way() {
      return route.way();
    }
  }

  /** Returns the last route of items like a single query's item, on whatever grounds; or null. */
  public Known find(WorkItem item) {
    return first(item.segment(), known -> known.route.request().matches(item));
  }

  /**
   * Returns the last route of exact answers to single queries without a filter, on whatever
   * grounds; or null.
   */
  public Known findScan(SegmentView segment, int k) {
    return first(
        segment,
        known ->
            known.route.request().k() == k
                && known.route.request().filtered() == false
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
  void remember(WorkItem item, Known fresh) {
    // filters differ from query to query, live documents do not
    boolean common =
        item.acceptedOrdinals() == null
            || item.segment().acceptedOrdinals().shared(item.acceptedOrdinals()) != null;
    if (common && fresh.route.request() != null) {
      segments.merge(item.segment(), new Known[] {fresh}, (old, own) -> with(old, fresh));
    }
  }

  private static Known[] with(Known[] old, Known fresh) {
    Known[] others =
        Arrays.stream(old)
            .filter(known -> known.route.request().equals(fresh.route.request()) == false)
            .toArray(Known[]::new);
    int kept = Math.min(others.length, MOST - 1);
    // the latest come last
    Known[] all = Arrays.copyOfRange(others, others.length - kept, others.length + 1);
    all[kept] = fresh;
    return all;
  }

  /** Forgets a segment that is being closed. */
  public void closing(SegmentView segment) {
    segments.remove(segment);
  }
}
