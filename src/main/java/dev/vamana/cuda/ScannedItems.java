package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchDevice;
import dev.vamana.cuda.batch.HeldSegment;
import dev.vamana.cuda.plan.Choice;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.scan.ScanJob;
import dev.vamana.cuda.scan.ScanLane;
import dev.vamana.cuda.scan.ScanTicket;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * The items of one call that the device answers exactly, by comparing the query with every accepted
 * vector. Items with the same {@link Decision} are searched together. {@link FetchedItems} is the
 * counterpart for walks whose neighbours the CPU fetches.
 */
final class ScannedItems {

  private final ScanLane lane;
  private final BatchDevice device;
  private final Counters counters;
  private final IdentityHashMap<Decision, Group> groups = new IdentityHashMap<>();
  private final List<Group> inOrder = new ArrayList<>();

  /** Items that are searched together. */
  private static final class Group {
    private final Choice choice;
    private final HeldSegment segment;
    private final MemorySegment file;
    private final List<WorkItem> items = new ArrayList<>();
    private final List<Integer> indices = new ArrayList<>();
    private boolean[] cancelled;
    private ScanTicket ticket;

    Group(Decision decision) {
      this.choice = decision.choice();
      this.segment = decision.segment();
      this.file = decision.file();
    }

    ScanJob job() {
      WorkItem first = items.get(0);
      return new ScanJob(
          segment,
          file,
          first.acceptedOrdinals(),
          first.acceptedCount(),
          choice.plan() == Plan.GATHER,
          Math.min(first.k(), first.segment().size()),
          items.stream().map(WorkItem::query).toList(),
          choice.work());
    }

    /**
     * Whether all items of the group are cancelled. Asks only suppliers that did not answer yes
     * before.
     */
    @SuppressWarnings("ReferenceEquality") // the items of a request share one supplier
    boolean unwanted() {
      boolean all = true;
      BooleanSupplier asked = null;
      boolean stop = false;
      for (int i = 0; i < cancelled.length; i++) {
        BooleanSupplier supplier = items.get(i).cancelled();
        if (supplier != asked) {
          asked = supplier;
          stop = cancelled[i] || supplier.getAsBoolean();
        }
        cancelled[i] |= stop;
        all &= cancelled[i];
      }
      return all;
    }
  }

  ScannedItems(ScanLane lane, BatchDevice device, Counters counters) {
    this.lane = lane;
    this.device = device;
    this.counters = counters;
  }

  /**
   * Adds an item.
   *
   * @param index the item's index in the call
   */
  void add(int index, WorkItem item, Decision decision) {
    Group group = groups.get(decision);
    if (group == null) {
      group = new Group(decision);
      groups.put(decision, group);
      inOrder.add(group);
    }
    group.items.add(item);
    group.indices.add(index);
  }

  /** Submits the items to the scan lane. */
  void submit() {
    for (Group group : inOrder) {
      group.cancelled = new boolean[group.items.size()];
      group.ticket = lane.submit(group.job());
    }
  }

  /**
   * Waits for the results and stores them. Returns the indices of the items that the CPU has to
   * answer.
   *
   * @throws AlreadyClosedException if a segment was closed meanwhile
   */
  List<Integer> finish(WorkResult[] results) {
    List<Integer> forCpu = new ArrayList<>();
    for (Group group : inOrder) {
      ScanTicket ticket = group.ticket;
      if (device.await(ticket, () -> ticket.done() || ticket.closed(), group::unwanted)) {
        take(group, results, forCpu);
      } else {
        ticket.abandon();
        counters.cancelled.add(group.items.size());
        for (int index : group.indices) {
          results[index] = new WorkResult(new int[0], new float[0], 0, false);
        }
      }
    }
    return forCpu;
  }

  private void take(Group group, WorkResult[] results, List<Integer> forCpu) {
    ScanTicket ticket = group.ticket;
    if (ticket.closed()) {
      throw new AlreadyClosedException(
          group.items.get(0).segment().name() + " was closed while it was searched");
    }
    int count = group.items.size();
    if (ticket.failure() != null) {
      counters.fallback(Counters.reason(ticket.failure()), count, ticket.failure().getMessage());
      forCpu.addAll(group.indices);
      return;
    }
    for (int i = 0; i < count; i++) {
      long distances = group.items.get(i).acceptedCount();
      device.walked(distances, 0);
      results[group.indices.get(i)] =
          new WorkResult(
              ticket.ordinals(i), ticket.scores(i), distances, group.cancelled[i] == false);
    }
    counters.answered(group.segment.placement(), count);
    counters.plans.add(group.choice.plan(), count, group.choice.nanos(), ticket.nanos());
  }

  /** Abandons scans that have not been waited for. */
  void close() {
    for (Group group : inOrder) {
      if (group.ticket != null) {
        group.ticket.abandon();
      }
    }
  }
}
