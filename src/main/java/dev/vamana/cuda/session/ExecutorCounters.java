package dev.vamana.cuda.session;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.batch.BatchCounters;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanCounters;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/** Counts what an executor has done, over all its contexts. Thread-safe. */
public final class ExecutorCounters {

  private static final long NANOS_PER_MICRO = 1_000;

  /** Of the walk lanes. */
  public final BatchCounters batches = new BatchCounters();

  /** Of trainings and encodings. */
  public final TrainingCounters training = new TrainingCounters();

  /** Of graphs built. */
  public final GraphCounters graphs = new GraphCounters();

  /** Of executed plans. */
  public final PlanCounters plans = new PlanCounters();

  /** Items that were asked for. */
  public final LongAdder requested = new LongAdder();

  /** Items that were cancelled. */
  public final LongAdder cancelled = new LongAdder();

  private final LongAdder uploadWaits = new LongAdder();
  private final LongAdder uploadWaitNanos = new LongAdder();
  final LongAdder lost = new LongAdder();
  final LongAdder opened = new LongAdder();
  final LongAdder failedAttempts = new LongAdder();
  final LongAdder questioned = new LongAdder();
  final LongAdder questionNanos = new LongAdder();
  final LongAdder wrongAnswers = new LongAdder();
  final LongAdder questionsLeftOut = new LongAdder();
  private volatile Runnable whenSuspicious = () -> {};
  private final GpuListener listener;
  private final LongAdder unplaced = new LongAdder();
  private final Map<Placement, LongAdder> placements = new EnumMap<>(Placement.class);
  private final Map<FallbackReason, LongAdder> fallbacks = new EnumMap<>(FallbackReason.class);
  private final Map<FallbackReason, AtomicBoolean> told = new EnumMap<>(FallbackReason.class);

  /** Makes counters that tell the listener of the first failure of each kind. */
  public ExecutorCounters(GpuListener listener) {
    this.listener = listener;
    for (Placement placement : Placement.values()) {
      placements.put(placement, new LongAdder());
    }
    for (FallbackReason reason : FallbackReason.values()) {
      fallbacks.put(reason, new LongAdder());
      told.put(reason, new AtomicBoolean());
    }
  }

  /**
   * Counts items that the device has answered.
   *
   * @param placement placement of their segment; null if the segment was streamed
   */
  public void answered(Placement placement, int items) {
    (placement == null ? unplaced : placements.get(placement)).add(items);
  }

  /** Counts a wait of a call for a segment's upload. */
  public void waitedForUpload(long nanos) {
    uploadWaits.increment();
    uploadWaitNanos.add(nanos);
  }

  /** Sets who hears of every failure after which a device may answer wrong. */
  void whenSuspicious(Runnable action) {
    whenSuspicious = action;
  }

  /**
   * Counts items that the CPU answers.
   *
   * @param items how many, possibly none
   * @param detail what went wrong, for the listener
   */
  public void fallback(FallbackReason reason, int items, String detail) {
    fallbacks.get(reason).add(items);
    if (reason == FallbackReason.LAUNCH_FAILED || reason == FallbackReason.CORRUPT) {
      whenSuspicious.run();
    }
    if (reason.failure() && told.get(reason).compareAndSet(false, true)) {
      listener.fallback(reason, detail);
    }
  }

  /** Maps a driver failure to the reason under which its items are counted. */
  public static FallbackReason reason(GpuException e) {
    return switch (e.kind()) {
      case CONTEXT_LOST -> FallbackReason.CONTEXT_LOST;
      case OUT_OF_MEMORY -> FallbackReason.OUT_OF_MEMORY;
      case FAILED, NOT_SUPPORTED, UNAVAILABLE -> FallbackReason.LAUNCH_FAILED;
    };
  }

  /** Returns all groups of counters that do not need an open context. */
  public SortedMap<String, SortedMap<String, Long>> groups() {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>();
    groups.put("batches", batches.totals());
    plans.addTo(groups);
    groups.put("batch_sizes", batches.batchSizes());
    groups.put("wait_micros", batches.waits());
    SortedMap<String, Long> items = new TreeMap<>();
    items.put("requested", requested.sum());
    items.put("cancelled", cancelled.sum());
    groups.put("items", items);
    SortedMap<String, Long> byPlacement = new TreeMap<>();
    placements.forEach((placement, count) -> byPlacement.put(placement.settingName(), count.sum()));
    byPlacement.put("none", unplaced.sum());
    groups.put("items_by_placement", byPlacement);
    SortedMap<String, Long> byReason = new TreeMap<>();
    fallbacks.forEach((reason, count) -> byReason.put(reason.statisticsName(), count.sum()));
    groups.put("items_on_cpu", byReason);
    groups.put("training", training.totals());
    groups.put("training_on_cpu", training.onCpu());
    groups.put("graphs", graphs.totals());
    groups.put("graphs_on_cpu", graphs.onCpu());
    SortedMap<String, Long> waits = new TreeMap<>();
    waits.put("count", uploadWaits.sum());
    waits.put("nanos", uploadWaitNanos.sum());
    groups.put("upload_waits", waits);
    SortedMap<String, Long> contexts = new TreeMap<>();
    contexts.put("opened", opened.sum());
    contexts.put("lost", lost.sum());
    contexts.put("failed_attempts", failedAttempts.sum());
    contexts.put("questioned", questioned.sum());
    contexts.put("questioned_in_micros", questionNanos.sum() / NANOS_PER_MICRO);
    contexts.put("wrong_answers", wrongAnswers.sum());
    contexts.put("questions_left_out", questionsLeftOut.sum());
    groups.put("contexts", contexts);
    return groups;
  }
}
