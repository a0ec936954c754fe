package dev.vamana.tools.gpu;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The GPU executor for stages and tests, assembled in the way a node assembles it, with access to
 * its driver and counters. It walks even if another plan would be faster.
 */
public final class Gpu implements Closeable {

  private static final long AWAIT_NANOS = TimeUnit.MINUTES.toNanos(3);

  /** Plan options that use a walk wherever possible. */
  static final PlanOptions WALKS = new PlanOptions(PlanMode.GRAPH, CostModel.shipped());

  /** The suite has the machine to itself, so segments may take most of its memory. */
  static final MemoryLimit MOST_MEMORY = MemoryLimit.percent(90);

  private static final MemoryLimit PAGE_CACHE = MemoryLimit.percent(60);

  /**
   * Reasons for which the planner uses the CPU because it is faster, or completes an answer there.
   */
  private static final Set<String> PLANNED =
      Set.of(
          FallbackReason.SCAN.statisticsName(),
          FallbackReason.PLANNED.statisticsName(),
          FallbackReason.VISIT_LIMIT.statisticsName(),
          FallbackReason.FEW_HITS.statisticsName());

  private final AtomicReference<CudaDriver> driver = new AtomicReference<>();
  private final ExecutorService threads;
  private final GpuExecutor executor;
  private final Placement placement;
  private final BatchOptions batches;
  private final PlanOptions plans;
  private final MemoryLimit memory;

  private Gpu(
      Supplier<CudaDriver> drivers,
      Placement placement,
      BatchOptions batches,
      PlanOptions plans,
      MemoryLimit memory) {
    this.placement = placement;
    this.batches = batches;
    this.plans = plans;
    this.memory = memory;
    int processors = Runtime.getRuntime().availableProcessors();
    threads =
        Executors.newFixedThreadPool(
            processors, Thread.ofPlatform().daemon().name("gpu-suite-worker").factory());
    executor =
        GpuExecutor.open(
            () -> {
              CudaDriver opened = drivers.get();
              driver.set(opened);
              return opened;
            },
            ResidencyOptions.defaults(hostBytes())
                .withPlacement(placement)
                .withLimits(memory, PAGE_CACHE)
                .withTimes(Duration.ofSeconds(60), Duration.ofMillis(200)),
            GpuOptions.DEFAULT
                .withWorkers(new Workers(threads, processors))
                .withTimes(times -> times.selfTest(0))
                .withBatches(batches)
                .withPlans(plans)
                .withLeast(GpuOptions.LEAST_TRAINING, GpuOptions.LEAST_GRAPH)
                .withTimes(
                    times ->
                        times.retry(
                            TimeUnit.MILLISECONDS.toNanos(200), TimeUnit.SECONDS.toNanos(2))),
            new Told());
  }

  /** Returns why no device can be used, or null if one can. */
  public static String missing() {
    DeviceProbe.Result result = new DeviceProbe(0).result();
    return result.usable() ? null : result.description();
  }

  /** Opens a separate context on the first device. */
  public static CudaDriver openDriver() {
    return new DeviceProbe(0).open();
  }

  /**
   * Opens the executor on the first device.
   *
   * @param placement the only placement to use; null to leave the choice to the planner
   */
  public static Gpu open(Placement placement) {
    return open(placement, Tuning.DEFAULT);
  }

  /** As {@link #open(Placement)}, with other kernel tuning. */
  public static Gpu open(Placement placement, Tuning tuning) {
    return open(Gpu::openDriver, placement, tuning);
  }

  /** As {@link #open(Placement, Tuning)}, with contexts of another supplier. */
  public static Gpu open(Supplier<CudaDriver> drivers, Placement placement, Tuning tuning) {
    return open(drivers, placement, BatchOptions.DEFAULT.withTuning(tuning), MOST_MEMORY);
  }

  /** Opens the executor with contexts of another supplier and with plan options. */
  public static Gpu open(Supplier<CudaDriver> drivers, Placement placement, PlanOptions plans) {
    return new Gpu(drivers, placement, BatchOptions.DEFAULT, plans, MOST_MEMORY);
  }

  /** As {@link #open(Placement)}, with other batch options. */
  public static Gpu open(Placement placement, BatchOptions batches) {
    return open(Gpu::openDriver, placement, batches, MOST_MEMORY);
  }

  /** Opens the executor with a limit of the device's memory for segments. */
  static Gpu open(
      Supplier<CudaDriver> drivers, Placement placement, BatchOptions batches, MemoryLimit memory) {
    return new Gpu(drivers, placement, batches, WALKS, memory);
  }

  private static long hostBytes() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getTotalMemorySize();
  }

  /** Returns the executor under test. */
  public GpuExecutor executor() {
    return executor;
  }

  /** Returns the driver of the current context. */
  public CudaDriver currentDriver() {
    return driver.get();
  }

  /**
   * Waits until segments are resident on the device.
   *
   * @throws IllegalStateException if one cannot be placed there; the message has the reason
   */
  public void await(List<SegmentView> segments) throws InterruptedException {
    long end = System.nanoTime() + AWAIT_NANOS;
    for (SegmentView view : segments) {
      DevicePresence presence = executor.presence(view);
      while (presence.state() != DevicePresence.State.RESIDENT) {
        if (presence.state() == DevicePresence.State.REFUSED || System.nanoTime() > end) {
          throw new IllegalStateException(
              view.name() + " is not on the device: " + presence.reason());
        }
        Thread.sleep(2);
        presence = executor.presence(view);
      }
    }
  }

  /**
   * Sets the most items of a launch, and how long an idle device waits for more items.
   *
   * @param mostItems 1 or more; 0 for as many as in the beginning
   * @param lingerNanos 0 or more
   */
  public void batches(int mostItems, long lingerNanos) {
    executor.adjust(
        new DynamicOptions(
            memory,
            PAGE_CACHE,
            Placement.only(placement),
            mostItems > 0 ? mostItems : batches.maxBatch(),
            lingerNanos,
            batches.segmentsAhead(),
            GpuOptions.DEFAULT.waitForUpload(),
            plans.mode()));
  }

  /** Returns the items answered by the CPU, by reason, including planned ones. */
  public Map<String, Long> fallbacks() {
    Map<String, Long> counters =
        new TreeMap<>(executor.statistics().counters().get("items_on_cpu"));
    counters.values().removeIf(count -> count == 0);
    return counters;
  }

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
  public record Counts(
      long answered,
      long fallbacks,
      long launches,
      long distances,
      long steps,
      long deviceBytes,
      long pinnedBytes) {

    /** Returns the difference to earlier counters; memory values are the current ones. */
    public Counts since(Counts before) {
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

  /** Returns the counters. */
  public Counts counts() {
    GpuStatistics statistics = executor.statistics();
    return new Counts(
        sum(statistics.counters().get("items_by_placement"), Set.of()),
        sum(statistics.counters().get("items_on_cpu"), PLANNED),
        statistics.counter("batches", "launches"),
        statistics.counter("batches", "distances"),
        statistics.counter("batches", "steps"),
        statistics.counter("residency", "device_bytes")
            - statistics.counter("residency", "scratch_bytes"),
        statistics.counter("residency", "page_cache_bytes"));
  }

  private static long sum(Map<String, Long> counters, Set<String> without) {
    return counters.entrySet().stream()
        .filter(counter -> without.contains(counter.getKey()) == false)
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  @Override
  public void close() {
    executor.close();
    threads.shutdown();
  }

  /** Prints the events that an operator would find in the log. */
  private static final class Told implements GpuListener {
    @Override
    public void fallback(FallbackReason reason, String detail) {
      System.err.println("gpu: the CPU answers: " + reason + ": " + detail);
    }

    @Override
    public void lost(GpuException cause, long retryMillis) {
      System.err.println("gpu: context lost: " + cause.getMessage());
    }

    @Override
    public void stillLost(GpuException cause, long retryMillis) {
      System.err.println("gpu: no new context: " + cause.getMessage());
    }

    @Override
    public void uploadFailed(String segment, Throwable cause) {
      System.err.println("gpu: upload of " + segment + " failed: " + cause);
    }

    @Override
    public void recovered(DeviceInfo device) {
      System.err.println("gpu: recovered: " + device.name());
    }
  }
}
