package dev.vamana.cuda.call;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.batch.Chunk;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.batch.Packer;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.hostfetch.FetchShape;
import dev.vamana.cuda.hostfetch.FetchTicket;
import dev.vamana.cuda.kernel.LaunchShape;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.Ticket;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.scan.ScanTicket;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.cuda.session.GpuSession;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * Runs one call of {@code GpuExecutor.search}: plans the items, submits tickets for the device's
 * items, answers the others on the CPU meanwhile, and then reads the tickets' results in order.
 *
 * <p>The call has entered the session, and leaves it while it answers on the CPU, which may take
 * long: a lost session can be replaced meanwhile. If it is gone when the call comes back, the CPU
 * answers everything.
 */
// items share plans and suppliers by identity; an equal but different supplier is only asked once
// more
@SuppressWarnings("ReferenceEquality")
public final class DeviceCall {

  private static final long STAGING_POLL_NANOS = 100_000;

  /** Chunks that are read while a call waits for the first of them. */
  private static final int READ_AHEAD = 3;

  private static final int STAGING_POLLS = 1_000;
  private static final int[] NO_ORDINALS = new int[0];
  private static final float[] NO_SCORES = new float[0];

  private final GpuSession session;
  private final CallPlanner planner;
  private final ExecutorCounters counters;
  private final CpuExecutor cpu;
  private final List<WorkItem> batch;
  private final int wanted;
  private final Decision[] decisions;
  private final ItemPlan[] plans;
  private final WorkResult[] results;
  private final boolean[] cancelled;
  // what the device found for items with which the CPU goes on
  private final DeviceResult[] unfinished;
  // in the order of submission, which is the order in which they end
  private final Map<Ticket, ChunkReading> walks = new LinkedHashMap<>();
  private final Queue<Ticket> fetches = new ArrayDeque<>();
  private final Queue<Ticket> scans = new ArrayDeque<>();
  private final IntList forCpu = new IntList();
  private final PlanLoad.Call counted;
  private boolean inside = true;
  // items sent ahead that the device answers
  private int ahead;

  /** Makes a call that has entered the session, which {@link #run} leaves. */
  public DeviceCall(
      GpuSession session,
      CallPlanner planner,
      ExecutorCounters counters,
      PlanLoad load,
      CpuExecutor cpu,
      List<WorkItem> batch,
      int wanted) {
    this.wanted = wanted;
    this.session = session;
    this.planner = planner;
    this.counters = counters;
    this.cpu = cpu;
    this.batch = batch;
    this.decisions = new Decision[batch.size()];
    this.plans = new ItemPlan[batch.size()];
    this.results = new WorkResult[batch.size()];
    this.cancelled = new boolean[batch.size()];
    this.unfinished = new DeviceResult[batch.size()];
    this.counted = load.call(counters.plans);
  }

  /**
   * Runs the call. Returns one result for each item; null for items sent ahead that were left
   * alone.
   *
   * @param leftAlone called before anything is answered if all items sent ahead are left alone
   */
  public List<WorkResult> run(Runnable leftAlone) throws IOException {
    try {
      Packer packer = session.walks.packer(batch, plans);
      try {
        Map<Object, IntList> groups = plan();
        if (wanted < batch.size() && ahead == 0) {
          leftAlone.run();
        }
        counted.begin();
        List<ScanTicket> exact = new ArrayList<>();
        for (Map.Entry<Object, IntList> group : groups.entrySet()) {
          if (group.getKey() instanceof FetchShape shape) {
            submit(shape, group.getValue());
          } else if (group.getKey() instanceof LaunchShape == false) {
            ScanTicket ticket = scan(group.getValue());
            scans.add(ticket);
            exact.add(ticket);
          }
        }
        if (exact.isEmpty() == false) {
          session.scans.submit(exact);
        }
        for (Map.Entry<Object, IntList> group : groups.entrySet()) {
          if (group.getKey() instanceof LaunchShape shape) {
            submit(packer, shape, group.getValue());
          }
        }
      } finally {
        packer.close();
        planner.close();
      }
      answerOnCpu();
      counted.answeredOnCpu();
      while (walks.isEmpty() == false) {
        finish(firstWalk());
      }
      finish(fetches);
      counted.walked();
      finish(scans);
      answerOnCpu();
      return Arrays.asList(results);
    } finally {
      walks.keySet().forEach(Ticket::leave);
      fetches.forEach(Ticket::leave);
      scans.forEach(Ticket::leave);
      counted.close();
      if (inside) {
        session.exit();
      }
    }
  }

  /** Plans all items and returns the indices of the device's items by likeness. */
  private Map<Object, IntList> plan() throws IOException {
    Map<Object, IntList> groups = new LinkedHashMap<>();
    BooleanSupplier asked = null;
    boolean stop = false;
    boolean woken = false;
    Object likeness = null;
    IntList last = null;
    int end;
    for (int i = 0; i < plans.length; i = end) {
      WorkItem item = batch.get(i);
      boolean own = i < wanted;
      end = endOfAlike(i, own ? wanted : plans.length);
      if (item.cancelled() != asked) {
        asked = item.cancelled();
        stop = asked.getAsBoolean();
      }
      if (stop) {
        counters.cancelled.add(end - i);
        Arrays.fill(results, i, end, nothing());
        continue;
      }
      Decision decision = planner.plan(item, end - i, own);
      if (decision.reason() != null && own == false) {
        continue;
      }
      ahead += own ? 0 : end - i;
      counted.planned(decision.plan(), end - i);
      if (decision.walk() != null && woken == false) {
        // a parked thread takes as long to wake as the first chunk to be packed
        session.walks.wake();
        woken = true;
      }
      Arrays.fill(decisions, i, end, decision);
      Arrays.fill(plans, i, end, decision.walk());
      if (decision.reason() != null) {
        forCpu.addRange(i, end);
        continue;
      }
      // most items are like the one before
      if (last == null || decision.likeness().equals(likeness) == false) {
        likeness = decision.likeness();
        last = groups.computeIfAbsent(likeness, unseen -> new IntList());
      }
      last.addRange(i, end);
    }
    return groups;
  }

  /** Returns the end of the items from {@code from} on that differ only in their query. */
  private int endOfAlike(int from, int to) {
    WorkItem.Terms terms = batch.get(from).terms();
    int end = from + 1;
    while (end < to && batch.get(end).terms() == terms) {
      end++;
    }
    return end;
  }

  /** Submits items whose walks the CPU fetches neighbours for. */
  private void submit(FetchShape shape, IntList group) {
    int[] items = Arrays.copyOf(group.values(), group.size());
    List<WorkItem> own = Arrays.stream(items).mapToObj(batch::get).toList();
    List<ResidentSegment> segments =
        Arrays.stream(items).mapToObj(i -> decisions[i].segment()).toList();
    FetchTicket ticket = new FetchTicket(shape, items, own, segments);
    fetches.add(ticket);
    session.fetches.submit(ticket);
  }

  /** Returns a ticket of items that are answered exactly, by one decision. */
  private ScanTicket scan(IntList group) {
    int[] items = Arrays.copyOf(group.values(), group.size());
    WorkItem first = batch.get(items[0]);
    Decision decision = decisions[items[0]];
    ScanTicket.Job job =
        new ScanTicket.Job(
            decision.segment(),
            first.acceptedOrdinals(),
            first.acceptedCount(),
            decision.plan() == Plan.GATHER,
            Math.min(first.k(), first.segment().size()));
    return new ScanTicket(
        job, items, Arrays.stream(items).mapToObj(i -> batch.get(i).query()).toList());
  }

  /** Packs and submits items of one walk shape, chunk by chunk. */
  private void submit(Packer packer, LaunchShape shape, IntList group) throws IOException {
    int[] items = group.values();
    int from = 0;
    int polls = 0;
    while (from < group.size()) {
      int to = packer.end(items, from, group.size());
      Chunk chunk = null;
      GpuException refusal = null;
      try {
        chunk = packer.pack(shape, items, from, to);
      } catch (GpuException e) {
        refusal = e;
      }
      if (chunk != null) {
        session.walks.submit(chunk);
        walks.put(chunk, new ChunkReading(chunk, batch, decisions, results, cancelled));
        from = to;
        polls = 0;
      } else if (walks.isEmpty() == false) {
        finish(firstWalk());
      } else if (refusal == null
          && polls++ < STAGING_POLLS
          && Thread.currentThread().isInterrupted() == false) {
        LockSupport.parkNanos(this, STAGING_POLL_NANOS);
      } else {
        if (refusal == null) {
          counters.fallback(FallbackReason.STAGING_FULL, to - from, "none became free in time");
        } else {
          counters.fallback(ExecutorCounters.reason(refusal), to - from, refusal.getMessage());
        }
        for (int i = from; i < to; i++) {
          leave(items[i]);
        }
        from = to;
      }
    }
  }

  /**
   * Leaves a wanted item to the CPU; an item sent ahead is dropped, and its own call answers it.
   */
  private void leave(int index) {
    if (index < wanted) {
      forCpu.add(index);
    }
  }

  private void answerOnCpu() throws IOException {
    if (forCpu.size() == 0) {
      return;
    }
    List<WorkItem> items = new ArrayList<>();
    int[] indices = forCpu.values();
    for (int i = 0; i < forCpu.size(); i++) {
      items.add(batch.get(indices[i]));
    }
    if (inside) {
      inside = false;
      session.exit();
    }
    List<WorkResult> answers = cpu.answer(items, (item, i) -> answer(item, indices[i]));
    inside = session.enter();
    for (int i = 0; i < answers.size(); i++) {
      results[indices[i]] = answers.get(i);
    }
    forCpu.clear();
  }

  /** Answers an item on the CPU, or goes on with what the device found. Any thread calls this. */
  private WorkResult answer(WorkItem item, int index) throws IOException {
    DeviceResult found = unfinished[index];
    if (found == null) {
      return CpuExecutor.search(item, decisions[index].way());
    }
    if (found.approximate()) {
      boolean complete = found.complete() && cancelled[index] == false;
      WorkResult result = CpuExecutor.rerank(item, found.ordinals(), found.visited(), complete);
      if (missesHits(index, result) == false) {
        counters.answered(decisions[index].segment().placement(), 1);
        return result;
      }
    }
    return CpuExecutor.scan(item);
  }

  /** Whether the CPU has to scan after a walk, which is counted. */
  private boolean missesHits(int index, WorkResult walked) throws IOException {
    WorkItem item = batch.get(index);
    // a search of lists goes on until it has as many hits as there are
    if (decisions[index].plan() != Plan.GRAPH || CpuExecutor.missesHits(item, walked) == false) {
      return false;
    }
    counters.fallback(FallbackReason.FEW_HITS, 1, item.segment().name());
    return true;
  }

  private Ticket firstWalk() {
    return walks.keySet().iterator().next();
  }

  private void finish(Queue<Ticket> tickets) throws IOException {
    Ticket ticket;
    while ((ticket = tickets.poll()) != null) {
      finish(ticket);
    }
  }

  /** Waits for a ticket, and stores its results or leaves its items to the CPU. */
  private void finish(Ticket ticket) throws IOException {
    ChunkReading reading = walks.get(ticket);
    try {
      if (inside == false) {
        // what the device wrote may be gone with its context
        fail(ticket, reading, FallbackReason.CONTEXT_LOST, "while the CPU answered other items");
        return;
      }
      boolean wait = session.waiters.await(ticket, () -> allCancelled(ticket), this::readWritten);
      if (ticket.closing()) {
        throw new AlreadyClosedException("a segment was closed while it was searched");
      }
      if (wait == false) {
        counters.cancelled.add(ticket.count());
        for (int i = 0; i < ticket.count(); i++) {
          results[ticket.item(i)] = nothing();
        }
      } else if (ticket.failure() != null) {
        GpuException failure = ticket.failure();
        fail(ticket, reading, ExecutorCounters.reason(failure), failure.getMessage());
      } else {
        read(ticket, reading);
      }
    } finally {
      walks.remove(ticket);
      ticket.leave();
    }
  }

  /** Reads the results that the device has written of the chunks that will end next. */
  private void readWritten() {
    int chunks = 0;
    for (ChunkReading reading : walks.values()) {
      if (chunks++ == READ_AHEAD) {
        break;
      }
      reading.readWritten();
    }
  }

  private void fail(Ticket ticket, ChunkReading reading, FallbackReason reason, String detail) {
    if (reading != null) {
      reading.drop();
    }
    counters.fallback(reason, ticket.count(), detail);
    for (int i = 0; i < ticket.count(); i++) {
      leave(ticket.item(i));
    }
  }

  private boolean allCancelled(Ticket ticket) {
    boolean all = true;
    BooleanSupplier asked = null;
    boolean stop = false;
    for (int i = 0; i < ticket.count(); i++) {
      int index = ticket.item(i);
      BooleanSupplier supplier = batch.get(index).cancelled();
      if (supplier != asked) {
        asked = supplier;
        stop = cancelled[index] || supplier.getAsBoolean();
      }
      if (stop) {
        cancelled[index] = true;
        ticket.unwanted(i);
      }
      all &= cancelled[index];
    }
    return all;
  }

  private void read(Ticket ticket, ChunkReading reading) throws IOException {
    if (reading != null) {
      reading.finish(session.walks, counters);
    }
    ChunkReading.Tally tally = new ChunkReading.Tally();
    for (int i = 0; i < ticket.count(); i++) {
      int index = ticket.item(i);
      if (results[index] != null) {
        continue;
      }
      DeviceResult found = reading == null ? ticket.result(i) : reading.found(i);
      tally.searched(found.visited(), found.iterations());
      if (take(index, found)) {
        tally.answered(decisions[index].segment().placement());
      }
    }
    tally.count(counters);
    Plan plan = decisions[ticket.item(0)].plan();
    if (plan.exactOnDevice()) {
      counters.plans.add(plan, ticket.count());
    }
    session.answered(ticket, batch, results);
  }

  /**
   * Stores the device's answer as an item's result. Returns false if the CPU has to answer the
   * item, or to go on with it.
   */
  private boolean take(int index, DeviceResult found) throws IOException {
    WorkItem item = batch.get(index);
    if (found.fault() != null) {
      counters.fallback(
          switch (found.fault()) {
            case CORRUPT -> FallbackReason.CORRUPT;
            case OVERFLOW -> FallbackReason.OVERFLOW;
          },
          1,
          item.segment().name());
      leave(index);
      return false;
    }
    WorkResult result = ChunkReading.result(found, cancelled[index]);
    if (found.approximate() || missesHits(index, result)) {
      // outside the session and on several threads: this may take long
      unfinished[index] = found;
      forCpu.add(index);
      return false;
    }
    results[index] = result;
    return true;
  }

  private static WorkResult nothing() {
    return new WorkResult(NO_ORDINALS, NO_SCORES, 0, false);
  }
}
