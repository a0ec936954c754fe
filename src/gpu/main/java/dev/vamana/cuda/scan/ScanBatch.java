package dev.vamana.cuda.scan;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.exact.ExactBatch;
import dev.vamana.cuda.exact.ExactHits;
import dev.vamana.cuda.exact.ExactOptions;
import dev.vamana.cuda.exact.ExactRows;
import dev.vamana.cuda.exact.ExactScans;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Searches similar tickets: tickets of one segment in one batch, and small batches over several
 * segments in one launch. Only the lane's thread uses it. {@link ScanLane} has one.
 */
final class ScanBatch {

  private static final long LEAST_SCRATCH = 16L << 20;
  // inverse share of the device's memory
  private static final int SHARE = 64;

  private final ExactScans scans;
  private final AcceptedUpload accepted;
  private final ExactHits hits = new ExactHits();
  // caches row objects, in which the engine keeps facts about the rows
  private final Map<SegmentView, Known> known = new WeakHashMap<>();

  private record Known(long address, ExactRows rows) {}

  /** Makes an instance. The calling thread is bound to the driver. */
  ScanBatch(CudaDriver driver, SessionHostMemory account, DeviceBudget budget) {
    this.accepted = new AcceptedUpload(driver, budget);
    this.scans = new ExactScans(driver, account, budget, options(driver.device().totalBytes()));
  }

  private static ExactOptions options(long deviceBytes) {
    ExactOptions most = ExactOptions.DEFAULT;
    long scratch = Math.max(LEAST_SCRATCH, deviceBytes / SHARE);
    return new ExactOptions(Math.min(most.scratchBytes(), scratch), most.leastProducts());
  }

  /**
   * Searches all tickets, and gives them their hits.
   *
   * @param tickets of which any two are alike, or can be {@linkplain ScanTicket.Job#oneOfMany
   *     searched in one launch}
   * @return number of searches
   */
  int search(List<ScanTicket> tickets) {
    Map<ScanTicket.Job, List<ScanTicket>> kinds = new LinkedHashMap<>();
    for (ScanTicket ticket : tickets) {
      kinds.computeIfAbsent(ticket.job(), unseen -> new ArrayList<>()).add(ticket);
    }
    if (kinds.size() == 1) {
      searchAlone(tickets);
      return 1;
    }
    List<List<ScanTicket>> together = new ArrayList<>();
    List<List<ScanTicket>> alone = new ArrayList<>();
    for (List<ScanTicket> own : kinds.values()) {
      int queries = own.stream().mapToInt(ScanTicket::count).sum();
      ExactRows rows = rows(own.get(0).job().segment());
      (ExactScans.oneOfMany(rows, queries) ? together : alone).add(own);
    }
    alone.forEach(this::searchAlone);
    if (together.isEmpty() == false) {
      searchTogether(together);
    }
    return alone.size() + (together.isEmpty() ? 0 : 1);
  }

  /** Searches batches of tickets in one launch, a batch for each segment and filter. */
  private void searchTogether(List<List<ScanTicket>> batches) {
    List<ScanTicket.Job> filtered =
        batches.stream()
            .map(own -> own.get(0).job())
            .filter(job -> job.accepted() != null)
            .toList();
    Iterator<Long> addresses = accepted.bring(filtered).iterator();
    List<ExactScans.Asked> asked = new ArrayList<>();
    for (List<ScanTicket> tickets : batches) {
      ScanTicket.Job job = tickets.get(0).job();
      ExactBatch batch = ExactBatch.of(queries(tickets), job.k());
      asked.add(
          new ExactScans.Asked(
              rows(job.segment()),
              job.accepted() == null ? batch : batch.accepting(addresses.next()),
              new ExactHits()));
    }
    scans.searchMany(asked);
    for (int i = 0; i < batches.size(); i++) {
      deliver(batches.get(i), asked.get(i).hits());
    }
  }

  private static List<QueryVector> queries(List<ScanTicket> tickets) {
    List<QueryVector> queries = new ArrayList<>();
    tickets.forEach(ticket -> queries.addAll(ticket.queries()));
    return queries;
  }

  private void searchAlone(List<ScanTicket> tickets) {
    ScanTicket.Job first = tickets.get(0).job();
    ExactBatch batch = ExactBatch.of(queries(tickets), first.k());
    if (first.accepted() != null) {
      int size = first.segment().view().size();
      batch =
          first.gather()
              ? batch.among(AcceptedUpload.ordinals(first.accepted(), size, first.acceptedCount()))
              : batch.accepting(accepted.bring(List.of(first)).get(0));
    }
    scans.search(rows(first.segment()), batch, hits);
    deliver(tickets, hits);
  }

  private static void deliver(List<ScanTicket> tickets, ExactHits hits) {
    int from = 0;
    for (ScanTicket ticket : tickets) {
      for (int i = 0; i < ticket.count(); i++) {
        ticket.found(i, hits.ordinals(from + i), hits.scores(from + i));
      }
      from += ticket.count();
    }
  }

  private ExactRows rows(ResidentSegment segment) {
    SegmentView view = segment.view();
    ResidentRows where = segment.rows();
    Known before = known.get(view);
    // a segment that was evicted and uploaded again has another address
    if (before == null || before.address() != where.address()) {
      ExactRows rows =
          ExactRows.resident(
              where.address(),
              where.stride(),
              view.size(),
              view.dimension(),
              view.similarity(),
              view.encoding());
      before = new Known(where.address(), rows);
      known.put(view, before);
    }
    return before.rows();
  }

  /** Ends the uses of accepted bits, after a search. */
  void release() {
    accepted.release();
  }

  /** Waits until nothing runs, after a failure. If this throws, the context is lost. */
  void drain() {
    scans.drain();
    accepted.release();
  }

  /** Frees everything, which must not be in use. */
  void free() {
    accepted.free();
    scans.close();
  }
}
