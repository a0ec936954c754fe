package dev.vamana.cuda.call;

import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The last {@link IdlePlan}s of each segment, so that the next query which differs only in its
 * vector need not be planned anew: what an item costs beside the load is a look-up. Whoever takes
 * one compares its grounds. Thread-safe.
 */
public final class IdlePlans {

  /** Kinds of items that are remembered for a segment. */
  private static final int MOST_KINDS = 8;

  private final Map<SegmentView, IdlePlan[]> segments = new ConcurrentHashMap<>();

  /** Returns the last plan of items like a single query's item, on whatever grounds; or null. */
  IdlePlan find(WorkItem item) {
    IdlePlan[] known = segments.get(item.segment());
    if (known != null) {
      for (IdlePlan plan : known) {
        if (plan.kind().matches(item)) {
          return plan;
        }
      }
    }
    return null;
  }

  /** Remembers a plan in place of an earlier one for the same kind of items. */
  void remember(WorkItem item, IdlePlan fresh) {
    // filters differ from query to query, live documents do not
    boolean common =
        item.acceptedOrdinals() == null
            || item.segment().acceptedOrdinals().shared(item.acceptedOrdinals()) != null;
    if (common) {
      segments.merge(item.segment(), new IdlePlan[] {fresh}, (old, own) -> with(old, fresh));
    }
  }

  private static IdlePlan[] with(IdlePlan[] old, IdlePlan fresh) {
    IdlePlan[] others =
        Arrays.stream(old)
            .filter(plan -> plan.kind().equals(fresh.kind()) == false)
            .toArray(IdlePlan[]::new);
    int kept = Math.min(others.length, MOST_KINDS - 1);
    // the latest come last
    IdlePlan[] all = Arrays.copyOfRange(others, others.length - kept, others.length + 1);
    all[kept] = fresh;
    return all;
  }

  /** Forgets a segment that is being closed. */
  public void closing(SegmentView segment) {
    segments.remove(segment);
  }
}
