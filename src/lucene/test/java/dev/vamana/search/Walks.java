package dev.vamana.search;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.lucene.util.FixedBitSet;

/** Gives tests of other packages access to the reference walk. */
public final class Walks {

  private Walks() {}

  /** Returns an item that is walked from the medoid, without limits. */
  public static WorkItem item(SegmentView segment, QueryVector query, int k, WalkParameters walk) {
    return item(segment, query, k, walk, null);
  }

  /**
   * As above.
   *
   * @param accepted what may be a hit; null for all
   */
  public static WorkItem item(
      SegmentView segment, QueryVector query, int k, WalkParameters walk, FixedBitSet accepted) {
    int count = accepted == null ? segment.size() : accepted.cardinality();
    return new WorkItem(
        segment, query, k, walk, accepted, count, Long.MAX_VALUE, () -> false, new int[0]);
  }

  /** Returns an item with another limit and another question whether it is cancelled. */
  public static WorkItem limited(WorkItem item, long visitLimit, BooleanSupplier cancelled) {
    return new WorkItem(
        item.segment(),
        item.query(),
        item.k(),
        item.walk(),
        item.acceptedOrdinals(),
        item.acceptedCount(),
        visitLimit,
        cancelled,
        item.entryPoints());
  }

  /** Walks every item, also where scoring all vectors would be the better plan. */
  public static List<WorkResult> reference(List<WorkItem> items) throws IOException {
    List<WorkResult> results = new ArrayList<>();
    for (WorkItem item : items) {
      results.add(new ReferenceWalk(item).run());
    }
    return results;
  }

  /**
   * Answers as the CPU does, but computes every distance of a walk. With estimates, about one walk
   * in 250 over 1,000 dimensions ends elsewhere, so that they are no reference for a device.
   */
  public static List<WorkResult> withoutEstimates(List<WorkItem> items, Workers workers)
      throws IOException {
    WorkResult[] results = new WorkResult[items.size()];
    workers.forEach(
        0,
        results.length,
        1,
        () -> i -> results[i] = withoutEstimates(items.get(i)),
        AbortCheck.NEVER);
    return Arrays.asList(results);
  }

  private static WorkResult withoutEstimates(WorkItem item) throws IOException {
    CpuExecutor.Way way = CpuExecutor.way(item);
    if (way != CpuExecutor.Way.WALK) {
      return CpuExecutor.search(item, way);
    }
    WorkResult walked = new ReferenceWalk(item).run();
    return CpuExecutor.missesHits(item, walked) ? CpuExecutor.scan(item) : walked;
  }
}
