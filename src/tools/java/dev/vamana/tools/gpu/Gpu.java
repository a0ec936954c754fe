package dev.vamana.tools.gpu;

import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import java.io.Closeable;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The GPU executor for stages and tests, with access to its driver and counters. */
public interface Gpu extends Closeable {

  /** Plan options that use a walk wherever possible. */
  PlanOptions WALKS = new PlanOptions(PlanMode.GRAPH, CostModel.shipped());

  /** Returns the executor under test. */
  SearchExecutor executor();

  /** Returns the name of the device. */
  String device();

  /** Returns the CUDA version of the driver, for instance "13.0". */
  String driver();

  /** Returns the driver of the current context. */
  CudaDriver currentDriver();

  /**
   * Waits until segments are resident on the device.
   *
   * @throws IllegalStateException if one cannot be placed there; the message has the reason
   */
  void await(List<SegmentView> segments) throws InterruptedException;

  /**
   * Sets the most items of a launch, and how long an idle device waits for more items.
   *
   * @param mostItems 1 or more; 0 for as many as in the beginning
   * @param lingerNanos 0 or more
   */
  void batches(int mostItems, long lingerNanos);

  /** Returns the counters. */
  Counts counts();

  /** Returns the items answered by the CPU, by reason, including planned ones. */
  Map<String, Long> fallbacks();

  /** Returns the answered items by plan, without plans that answered none. */
  Map<String, Long> plans();

  /** Returns the number of graphs that the device has built, and the times of that. */
  Map<String, Long> graphs();

  @Override
  void close();

  /**
   * Counters of the executor.
   *
   * @param answered items answered by the device
   * @param fallbacks items answered by the CPU for other reasons than the plan
   * @param launches kernels launched for items
   * @param distances distances computed on the device
   * @param steps steps of walks, each of which expands one or several nodes
   * @param deviceBytes device memory in use for segments
   * @param pinnedBytes page cache registered for segments
   */
  record Counts(
      long answered,
      long fallbacks,
      long launches,
      long distances,
      long steps,
      long deviceBytes,
      long pinnedBytes) {

    /** Returns the difference to earlier counters; memory values are the current ones. */
    Counts since(Counts before) {
      return new Counts(
          answered - before.answered,
          fallbacks - before.fallbacks,
          launches - before.launches,
          distances - before.distances,
          steps - before.steps,
          deviceBytes,
          pinnedBytes);
    }
  }

  /** Returns why no device can be used, or null if one can. */
  static String missing() {
    DeviceProbe.Result result = new DeviceProbe(0).result();
    return result.usable() ? null : result.description();
  }

  /** Opens a separate context on the first device. */
  static CudaDriver openDriver() {
    return new DeviceProbe(0).open();
  }

  /**
   * Opens the executor on the first device. It walks even if another plan would be faster.
   *
   * @param placement the only placement to use; null to leave the choice to the planner
   */
  static Gpu open(Placement placement) {
    return open(placement, Tuning.DEFAULT);
  }

  /** As {@link #open(Placement)}, with other kernel tuning. */
  static Gpu open(Placement placement, Tuning tuning) {
    return open(new DeviceProbe(0)::open, placement, tuning);
  }

  /** As {@link #open(Placement, Tuning)}, with contexts of another supplier. */
  static Gpu open(Supplier<CudaDriver> drivers, Placement placement, Tuning tuning) {
    return OpenGpu.open(drivers, placement, BatchOptions.DEFAULT.withTuning(tuning), WALKS);
  }

  /** Opens the executor with contexts of another supplier and with plan options. */
  static Gpu open(Supplier<CudaDriver> drivers, Placement placement, PlanOptions plans) {
    return OpenGpu.open(drivers, placement, BatchOptions.DEFAULT, plans);
  }

  /** As {@link #open(Placement)}, with other batch options. */
  static Gpu open(Placement placement, BatchOptions batches) {
    return OpenGpu.open(new DeviceProbe(0)::open, placement, batches, WALKS);
  }
}
