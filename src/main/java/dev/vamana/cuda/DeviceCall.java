package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchDevice;
import dev.vamana.cuda.batch.Chunk;
import dev.vamana.cuda.batch.DeviceResult;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.batch.Packer;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.WalkShape;
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
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * Runs one call of {@link GpuExecutor#search}: plans the items, packs and submits the device's
 * items chunk by chunk, answers the others on the CPU meanwhile, and then reads the chunks' results
 * in order.
 */
// items share plans and suppliers by identity; an equal but different supplier is only asked once
// more
@SuppressWarnings("ReferenceEquality")
final class DeviceCall {

  private static final long STAGING_POLL_NANOS = 100_000;
  private static final int STAGING_POLLS = 1_000;
  private static final int[] NO_ORDINALS = new int[0];
  private static final float[] NO_SCORES = new float[0];

  private final BatchDevice device;
  private final CallPlanner planner;
  private final Counters counters;
  private final CpuExecutor cpu;
  private final List<WorkItem> batch;
  private final int wanted;
  private final ItemPlan[] plans;
  private final CpuExecutor.Way[] ways;
  private final WorkResult[] results;
  private final boolean[] cancelled;
  private final ArrayDeque<Chunk> submitted = new ArrayDeque<>();
  private final IntList forCpu = new IntList();
  private final FetchedItems fetched;
  private final ScannedItems scanned;
  private final CallTimes times;

  DeviceCall(
      GpuSession session,
      CallPlanner planner,
      Counters counters,
      PlanLoad load,
      CpuExecutor cpu,
      List<WorkItem> batch,
      int wanted) {
    this.wanted = wanted;
    this.device = session.device;
    this.planner = planner;
    this.counters = counters;
    this.cpu = cpu;
    this.batch = batch;
    this.plans = new ItemPlan[batch.size()];
    this.ways = new CpuExecutor.Way[batch.size()];
    this.results = new WorkResult[batch.size()];
    this.cancelled = new boolean[batch.size()];
    this.fetched = new FetchedItems(session.fetch, device, counters);
    this.scanned = new ScannedItems(session.scans, device, counters);
    this.times = new CallTimes(load, counters.plans);
  }

  List<WorkResult> run() throws IOException {
    try {
      Packer packer = device.packer(batch, plans);
      try {
        Map<WalkShape, IntList> groups = plan();
        times.begin();
        scanned.submit();
        fetched.submit();
        for (Map.Entry<WalkShape, IntList> group : groups.entrySet()) {
          submit(packer, group.getKey(), group.getValue());
        }
      } finally {
        packer.close();
        planner.close();
      }
      long since = System.nanoTime();
      answerOnCpu();
      times.answeredOnCpu(since);
      while (submitted.isEmpty() == false) {
        finishOldest();
      }
      fetched.finish(results).forEach(this::leave);
      times.walked();
      scanned.finish(results).forEach(this::leave);
      answerOnCpu();
      return Arrays.asList(results);
    } finally {
      submitted.forEach(Chunk::abandon);
      fetched.close();
      scanned.close();
      times.close();
    }
  }

  /** Plans all items and returns the indices of the device's items by walk shape. */
  private Map<WalkShape, IntList> plan() throws IOException {
    Map<WalkShape, IntList> groups = new LinkedHashMap<>();
    WalkShape shape = null;
    IntList group = null;
    BooleanSupplier asked = null;
    boolean stop = false;
    for (int i = 0; i < plans.length; i++) {
      WorkItem item = batch.get(i);
      if (item.cancelled() != asked) {
        asked = item.cancelled();
        stop = asked.getAsBoolean();
      }
      if (stop) {
        counters.cancelled.increment();
        results[i] = nothing();
        continue;
      }
      Decision decision = planner.plan(item, i < wanted);
      if (decision.reason() != null && i >= wanted) {
        continue;
      }
      times.planned(decision);
      plans[i] = decision.walk();
      ways[i] = decision.way();
      if (plans[i] == null) {
        if (decision.reason() != null) {
          forCpu.add(i);
        } else if (decision.choice().plan().exactOnDevice()) {
          scanned.add(i, item, decision);
        } else {
          fetched.add(i, item, decision.segment());
        }
        continue;
      }
      if (plans[i].shape() != shape) {
        shape = plans[i].shape();
        group = groups.computeIfAbsent(shape, unseen -> new IntList());
      }
      group.add(i);
    }
    return groups;
  }

  private void submit(Packer packer, WalkShape shape, IntList group) throws IOException {
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
        device.submit(chunk);
        submitted.add(chunk);
        from = to;
        polls = 0;
      } else if (submitted.isEmpty() == false) {
        finishOldest();
      } else if (refusal == null
          && polls++ < STAGING_POLLS
          && Thread.currentThread().isInterrupted() == false) {
        LockSupport.parkNanos(this, STAGING_POLL_NANOS);
      } else {
        if (refusal == null) {
          counters.fallback(FallbackReason.STAGING_FULL, to - from, "none became free in time");
        } else {
          counters.fallback(Counters.reason(refusal), to - from, refusal.getMessage());
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
    List<CpuExecutor.Way> own = new ArrayList<>();
    for (int i = 0; i < forCpu.size(); i++) {
      items.add(batch.get(forCpu.values()[i]));
      own.add(ways[forCpu.values()[i]]);
    }
    List<WorkResult> answers = cpu.search(items, own);
    for (int i = 0; i < answers.size(); i++) {
      results[forCpu.values()[i]] = answers.get(i);
    }
    forCpu.clear();
  }

  private void finishOldest() throws IOException {
    Chunk chunk = submitted.peek();
    boolean done =
        device.await(chunk, () -> chunk.done() || chunk.segmentClosed(), () -> allCancelled(chunk));
    submitted.poll();
    if (chunk.segmentClosed()) {
      chunk.abandon();
      throw new AlreadyClosedException("a segment was closed while it was searched");
    }
    if (done == false) {
      counters.cancelled.add(chunk.count());
      chunk.abandon();
      for (int i = 0; i < chunk.count(); i++) {
        results[chunk.item(i)] = nothing();
      }
      return;
    }
    if (chunk.failure() != null) {
      counters.fallback(
          Counters.reason(chunk.failure()), chunk.count(), chunk.failure().getMessage());
      for (int i = 0; i < chunk.count(); i++) {
        leave(chunk.item(i));
      }
      chunk.freeMemory();
      return;
    }
    try {
      read(chunk);
    } finally {
      chunk.freeMemory();
    }
  }

  private boolean allCancelled(Chunk chunk) {
    boolean all = true;
    BooleanSupplier asked = null;
    boolean stop = false;
    for (int i = 0; i < chunk.count(); i++) {
      int index = chunk.item(i);
      BooleanSupplier supplier = batch.get(index).cancelled();
      if (supplier != asked) {
        asked = supplier;
        stop = cancelled[index] || supplier.getAsBoolean();
      }
      cancelled[index] |= stop;
      all &= cancelled[index];
    }
    return all;
  }

  private void read(Chunk chunk) throws IOException {
    int counted = 0;
    long visited = 0;
    long iterations = 0;
    ItemPlan last = null;
    for (int i = 0; i < chunk.count(); i++) {
      int index = chunk.item(i);
      ItemPlan plan = plans[index];
      if (plan != last && last != null) {
        counters.answered(last.segment().placement(), counted);
        counted = 0;
      }
      last = plan;
      DeviceResult found = device.result(chunk, i, plan);
      visited += found.visited();
      iterations += found.iterations();
      counted += take(index, found) ? 1 : 0;
    }
    device.walked(visited, iterations);
    if (counted > 0) {
      counters.answered(last.segment().placement(), counted);
    }
  }

  /**
   * Stores the device's answer as an item's result. Returns false if the CPU has to answer the
   * item, or has just done so.
   */
  private boolean take(int index, DeviceResult found) throws IOException {
    WorkItem item = batch.get(index);
    boolean complete = found.complete() && cancelled[index] == false;
    if (found.corrupt() || found.overflow()) {
      counters.fallback(
          found.corrupt() ? FallbackReason.CORRUPT : FallbackReason.OVERFLOW,
          1,
          item.segment().name());
      leave(index);
      return false;
    }
    WorkResult result =
        found.approximate()
            ? CpuExecutor.rerank(item, found.ordinals(), found.visited(), complete)
            : new WorkResult(found.ordinals(), found.scores(), found.visited(), complete);
    if (CpuExecutor.missesHits(item, result)) {
      counters.fallback(FallbackReason.FEW_HITS, 1, item.segment().name());
      result = CpuExecutor.scan(item);
      results[index] = result;
      return false;
    }
    results[index] = result;
    return true;
  }

  private static WorkResult nothing() {
    return new WorkResult(NO_ORDINALS, NO_SCORES, 0, false);
  }

  /** A growing array of ints. */
  private static final class IntList {
    private int[] values = new int[16];
    private int size;

    void add(int value) {
      if (size == values.length) {
        values = Arrays.copyOf(values, 2 * size);
      }
      values[size++] = value;
    }

    int[] values() {
      return values;
    }

    int size() {
      return size;
    }

    void clear() {
      size = 0;
    }
  }
}
