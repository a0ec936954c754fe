package dev.vamana.cuda.session;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.batch.BatchCounters;
import dev.vamana.cuda.count.Counters;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyCounters;
import dev.vamana.cuda.memory.ResidencyListener;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanCounters;
import dev.vamana.search.SegmentView;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.lucene.index.CorruptIndexException;

/**
 * Counts what an executor has done, over all its contexts. Thread-safe. {@code GpuExecutor} has
 * one, and every session counts in it.
 */
public final class ExecutorCounters {

  /** Of the walk lanes. */
  public final BatchCounters batches = new BatchCounters();

  /** Of trainings and encodings. */
  public final TrainingCounters training = new TrainingCounters();

  /** Of graphs built. */
  public final GraphCounters graphs = new GraphCounters();

  /** Of executed plans. */
  public final PlanCounters plans = new PlanCounters();

  /** Of segments on the device. */
  final ResidencyCounters residency = new ResidencyCounters();

  private final Counters items = new Counters();

  /** Items that were asked for. */
  public final LongAdder requested = items.add("requested");

  // of single queries that the CPU answers without a plan of their own: one counter for each item
  private final LongAdder leftScans = new LongAdder();
  private final LongAdder leftWalks = new LongAdder();

  /** Items that were cancelled. */
  public final LongAdder cancelled = items.add("cancelled");

  private final Counters waits = new Counters();
  private final LongAdder uploadWaits = waits.add("count");
  private final LongAdder uploadWaitNanos = waits.add("nanos");
  private final Counters contexts = new Counters();
  final LongAdder lost = contexts.add("lost");
  final LongAdder opened = contexts.add("opened");
  final LongAdder failedAttempts = contexts.add("failed_attempts");
  final LongAdder questioned = contexts.add("questioned");
  final LongAdder wrongAnswers = contexts.add("wrong_answers");
  final LongAdder questionsLeftOut = contexts.add("questions_left_out");
  private volatile Runnable whenSuspicious = () -> {};
  private final GpuListener listener;
  private final Counters byPlacement = new Counters();
  private final Map<Placement, LongAdder> placements =
      byPlacement.addAll(Placement.class, Placement::settingName);
  private final Counters byReason = new Counters();
  private final Map<FallbackReason, LongAdder> fallbacks =
      byReason.addAll(FallbackReason.class, FallbackReason::statisticsName);
  private final Map<FallbackReason, AtomicBoolean> told = new EnumMap<>(FallbackReason.class);

  /** Makes counters that tell the listener of the first failure of each kind. */
  public ExecutorCounters(GpuListener listener) {
    this.listener = listener;
    for (FallbackReason reason : FallbackReason.values()) {
      told.put(reason, new AtomicBoolean());
    }
  }

  /**
   * Counts items that the device has answered.
   *
   * @param placement placement of their segment
   */
  public void answered(Placement placement, int count) {
    placements.get(placement).add(count);
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
   * @param count how many, possibly none
   * @param detail what went wrong, for the listener
   */
  public void fallback(FallbackReason reason, int count, String detail) {
    fallbacks.get(reason).add(count);
    if (reason == FallbackReason.LAUNCH_FAILED || reason == FallbackReason.CORRUPT) {
      whenSuspicious.run();
    }
    if (reason.failure() && told.get(reason).compareAndSet(false, true)) {
      listener.fallback(reason, detail);
    }
  }

  /** Tells the listener of a self-test that a context in use did not answer. */
  void unanswered(Throwable cause) {
    listener.unanswered(cause);
  }

  /**
   * Counts the item of a single query that the CPU answers without a plan of its own. It is one of
   * the items that were asked for, one that the CPU answers, and an executed plan of the CPU.
   */
  public void left(boolean scans) {
    (scans ? leftScans : leftWalks).increment();
  }

  /** Returns who hears of the uploads of a session, and passes on what the operator should know. */
  ResidencyListener uploads(Consumer<GpuException> onLost) {
    return new ResidencyListener() {
      @Override
      public void refused(SegmentView view, GpuException reason) {
        listener.refused(view.name(), reason);
      }

      @Override
      public void failed(SegmentView view, Throwable reason) {
        if (reason instanceof GpuException e && e.contextLost()) {
          onLost.accept(e);
        } else if (reason instanceof CorruptIndexException e) {
          listener.damaged(view, e);
        } else {
          listener.uploadFailed(view.name(), reason);
        }
      }
    };
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
    groups.put("items", items.sums());
    groups.put("items_by_placement", byPlacement.sums());
    groups.put("items_on_cpu", byReason.sums());
    groups.put("training", training.totals.sums());
    groups.put("training_on_cpu", training.onCpu.sums());
    groups.put("graphs", graphs.totals.sums());
    groups.put("graphs_on_cpu", graphs.onCpu.sums());
    groups.put("upload_waits", waits.sums());
    groups.put("contexts", contexts.sums());
    long scans = leftScans.sum();
    long walks = leftWalks.sum();
    add(groups, "items", "requested", scans + walks);
    add(groups, "items_on_cpu", FallbackReason.SCAN.statisticsName(), scans);
    add(groups, "items_on_cpu", FallbackReason.PLANNED.statisticsName(), walks);
    add(groups, "plan_calls", Plan.CPU.statisticsName(), scans + walks);
    add(groups, "plan_items", Plan.CPU.statisticsName(), scans + walks);
    return groups;
  }

  private static void add(
      SortedMap<String, SortedMap<String, Long>> groups, String group, String name, long count) {
    groups.get(group).merge(name, count, Long::sum);
  }
}
