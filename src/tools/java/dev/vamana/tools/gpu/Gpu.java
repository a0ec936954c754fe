package dev.vamana.tools.gpu;

import dev.vamana.cuda.PlanOptions;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.hostfetch.FetchOptions;
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

/** The GPU executor as stages and tests use it, with what they look at beside its answers. */
public interface Gpu extends Closeable {

  /** Walks wherever it can. */
  PlanOptions WALKS = new PlanOptions(PlanMode.GRAPH, CostModel.shipped());

  /** The executor under test. */
  SearchExecutor executor();

  /** Name of the device. */
  String device();

  /** CUDA version of the driver, for instance "13.0". */
  String driver();

  /** The context that the executor works in now. */
  CudaDriver currentDriver();

  /**
   * Waits until the device serves these segments.
   *
   * @throws IllegalStateException if one cannot be placed there, with the reason
   */
  void await(List<SegmentView> segments) throws InterruptedException;

  /**
   * Lets an idle device wait for more items from now on.
   *
   * @param nanos 0 or more
   */
  void linger(long nanos);

  /** Counts so far. */
  Counts counts();

  /** Items that the CPU answered so far, by reason, those that are better off there included. */
  Map<String, Long> fallbacks();

  @Override
  void close();

  /**
   * What was done so far.
   *
   * @param answered items that the device answered
   * @param fallbacks items that the CPU answered, but for those that are better off there
   * @param launches kernels started for items
   * @param distances distances computed on the device
   * @param steps steps of walks: nodes expanded, or groups of several parents
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

    /** What was done since an earlier moment; memory is that of now. */
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

  /** Why no device can be used, or null if one can. */
  static String missing() {
    DeviceProbe.Result result = new DeviceProbe(0).result();
    return result.usable() ? null : result.description();
  }

  /** Opens a context of its own on the first device. */
  static CudaDriver openDriver() {
    return new DeviceProbe(0).open();
  }

  /**
   * Opens the executor on the first device; it walks, whatever else would be faster.
   *
   * @param placement the only one to use; null to leave it to the planner
   */
  static Gpu open(Placement placement) {
    return open(placement, Tuning.DEFAULT);
  }

  /** As {@link #open(Placement)}, with other choices about kernels. */
  static Gpu open(Placement placement, Tuning tuning) {
    return open(new DeviceProbe(0)::open, placement, tuning);
  }

  /** As {@link #open(Placement, Tuning)}, with contexts from elsewhere. */
  static Gpu open(Supplier<CudaDriver> drivers, Placement placement, Tuning tuning) {
    return OpenGpu.open(drivers, placement, BatchOptions.DEFAULT.withTuning(tuning), null, WALKS);
  }

  /** Opens the executor with contexts from elsewhere, and plans chosen so. */
  static Gpu open(Supplier<CudaDriver> drivers, Placement placement, PlanOptions plans) {
    return OpenGpu.open(drivers, placement, BatchOptions.DEFAULT, null, plans);
  }

  /** As {@link #open(Placement)}, with batches made in another way. */
  static Gpu open(Placement placement, BatchOptions batches) {
    return OpenGpu.open(new DeviceProbe(0)::open, placement, batches, null, WALKS);
  }

  /** As {@link #open(Placement)}, with neighbours that the CPU fetches in another way. */
  static Gpu open(Placement placement, FetchOptions fetch) {
    return OpenGpu.open(new DeviceProbe(0)::open, placement, BatchOptions.DEFAULT, fetch, WALKS);
  }
}
