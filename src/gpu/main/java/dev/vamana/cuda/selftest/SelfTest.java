package dev.vamana.cuda.selftest;

import dev.vamana.cuda.batch.Chunk;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.batch.Packer;
import dev.vamana.cuda.batch.WalkLane;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.Ticket;
import dev.vamana.cuda.lane.Waiters;
import dev.vamana.cuda.memory.FixedPlacements;
import dev.vamana.cuda.memory.Place;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.scan.ScanLane;
import dev.vamana.cuda.scan.ScanTicket;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.lucene.util.FixedBitSet;

/**
 * Searches a tiny index through the lanes of a session, in every placement that walks use alone on
 * the device, and compares the answers with the CPU's. One thread at a time uses an instance.
 * {@code session.SelfTester} decides when.
 */
public final class SelfTest {

  private static final int QUERIES = 3;
  private static final int BEAM = 64;
  private static final int PARENTS = 4;
  private static final long DEVICE_BYTES = 16L << 20;
  private static final long STAGING_POLL_NANOS = 100_000;
  private static final int STAGING_POLLS = 1_000;

  private final List<TinySegment> segments;
  // number of the next query, and of the first query of the last items
  private int next;
  private int first;

  /** A device answered a self-test otherwise than the CPU. The message names the search. */
  public static final class WrongAnswerException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    WrongAnswerException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** Makes the index, which takes some milliseconds. */
  public SelfTest() {
    try {
      segments = List.of(TinySegment.withGraph(), TinySegment.withLists());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The parts with which a session searches. */
  public record Lanes(CudaDriver driver, WalkLane walks, ScanLane scans, Waiters waiters) {}

  /**
   * Searches everything. Leaves nothing on the device. Binds the driver to the calling thread.
   *
   * @return the number of searches for which the device has no kernel
   * @throws WrongAnswerException if an answer is wrong
   * @throws GpuException if the device gives no answer; as a lost context if it does not give
   *     memory back
   */
  public int run(Lanes lanes) {
    lanes.driver.bind();
    int leftOut = 0;
    try (FixedPlacements places = new FixedPlacements(lanes.driver, DEVICE_BYTES)) {
      for (TinySegment segment : segments) {
        for (Placement placement : Placement.values()) {
          if (has(segment, placement) && search(lanes, segment, placement, places) == false) {
            leftOut++;
          }
        }
      }
    }
    return leftOut;
  }

  private static boolean has(TinySegment segment, Placement placement) {
    return placement == Placement.EXACT
        || (segment.hasGraph() && placement.place() == Place.DEVICE);
  }

  /**
   * Returns items whose queries differ from the last call's: a kernel that does nothing leaves the
   * last answers in memory, and they must be wrong.
   */
  private List<WorkItem> items(TinySegment segment, FixedBitSet accepted) {
    first = next;
    WorkItem.Terms terms =
        new WorkItem.Terms(
            segment,
            TinySegment.NEIGHBORS - (accepted == null ? 0 : 1),
            WalkParameters.quantized(BEAM, TinySegment.NEIGHBORS).withParents(PARENTS),
            accepted,
            accepted == null ? segment.size() : accepted.cardinality(),
            Long.MAX_VALUE,
            () -> false,
            new int[0]);
    List<WorkItem> items = new ArrayList<>();
    for (int q = 0; q < QUERIES; q++) {
      items.add(new WorkItem(terms, segment.query(next)));
      next = (next + 1) % TinySegment.QUERIES;
    }
    return items;
  }

  /** Searches a segment in a placement. Returns false if the device has no kernel for that. */
  private boolean search(
      Lanes lanes, TinySegment segment, Placement placement, FixedPlacements places) {
    try {
      ResidentSegment held = places.place(segment, placement);
      try {
        search(lanes, segment, held);
      } finally {
        held.release();
      }
      return true;
    } catch (GpuException e) {
      if (e.kind() != GpuException.Kind.NOT_SUPPORTED) {
        throw e;
      }
      return false;
    } catch (IOException | RuntimeException e) {
      // answers beyond all bounds fail where they are read
      throw new WrongAnswerException(
          "search of "
              + (segment.hasLists() ? "lists" : "a graph")
              + (" in " + placement.settingName())
              + (" (" + e.getMessage() + ")"),
          e);
    }
  }

  private void search(Lanes lanes, TinySegment segment, ResidentSegment held) throws IOException {
    walk(lanes, items(segment, null), held);
    if (held.placement() == Placement.EXACT && segment.hasGraph()) {
      scan(lanes, items(segment, null), held, false);
      FixedBitSet others = new FixedBitSet(TinySegment.SIZE);
      others.set(0, TinySegment.SIZE);
      for (int q = 0; q < TinySegment.QUERIES; q++) {
        others.clear(TinySegment.nearest(q));
      }
      scan(lanes, items(segment, others), held, false);
      scan(lanes, items(segment, others), held, true);
    }
  }

  private void walk(Lanes lanes, List<WorkItem> items, ResidentSegment held) throws IOException {
    ItemPlan plan = ItemPlan.of(items.get(0), held);
    if (plan == null || lanes.walks.fits(plan) == false) {
      throw new GpuException(GpuException.Kind.NOT_SUPPORTED, "no kernel takes the items");
    }
    ItemPlan[] plans = new ItemPlan[items.size()];
    Arrays.fill(plans, plan);
    Packer packer = lanes.walks.packer(items, plans);
    try {
      Chunk chunk = null;
      for (int polls = 0; chunk == null; polls++) {
        if (polls == STAGING_POLLS) {
          throw new GpuException(GpuException.Kind.OUT_OF_MEMORY, "no pinned memory became free");
        }
        chunk = packer.pack(plan.shape(), numbers(items), 0, items.size());
        if (chunk == null) {
          LockSupport.parkNanos(this, STAGING_POLL_NANOS);
        }
      }
      lanes.walks.submit(chunk);
      read(lanes, chunk, items);
    } finally {
      packer.close();
    }
  }

  private void scan(Lanes lanes, List<WorkItem> items, ResidentSegment held, boolean gather)
      throws IOException {
    WorkItem.Terms terms = items.get(0).terms();
    ScanTicket.Job job =
        new ScanTicket.Job(
            held, terms.acceptedOrdinals(), terms.acceptedCount(), gather, terms.k());
    ScanTicket ticket =
        new ScanTicket(job, numbers(items), items.stream().map(WorkItem::query).toList());
    lanes.scans.submit(ticket);
    read(lanes, ticket, items);
  }

  private static int[] numbers(List<WorkItem> items) {
    return IntStream.range(0, items.size()).toArray();
  }

  private void read(Lanes lanes, Ticket ticket, List<WorkItem> items) throws IOException {
    try {
      lanes.waiters.await(ticket, () -> false);
      if (ticket.failure() != null) {
        throw ticket.failure();
      }
      for (int i = 0; i < ticket.count(); i++) {
        int item = ticket.item(i);
        check(items.get(item), (first + item) % TinySegment.QUERIES, ticket.result(i));
      }
    } finally {
      ticket.leave();
    }
  }

  private static void check(WorkItem item, int query, DeviceResult found) throws IOException {
    if (found.fault() != null || found.complete() == false) {
      throw new WrongAnswerException("the search did not end", null);
    }
    WorkResult result =
        found.approximate()
            ? CpuExecutor.rerank(item, found.ordinals(), 0, true)
            : new WorkResult(found.ordinals(), found.scores(), 0, true);
    int nearest = TinySegment.nearest(query);
    int[] ordinals =
        IntStream.range(nearest, nearest + TinySegment.NEIGHBORS)
            .filter(i -> item.acceptedOrdinals() == null || item.acceptedOrdinals().get(i))
            .toArray();
    String wrong =
        Arrays.equals(ordinals, result.ordinals())
            ? Samples.wrongAnswer(item, result)
            : Arrays.toString(result.ordinals()) + " instead of " + Arrays.toString(ordinals);
    if (wrong != null) {
      throw new WrongAnswerException(wrong, null);
    }
  }
}
