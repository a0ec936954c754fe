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
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.ivf.ListShape;
import dev.vamana.ivf.Rotation;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.work.Workers;
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

/** The {@link Gpu} of an opened executor, assembled in the way a node assembles it. */
final class OpenGpu implements Gpu {

  private static final long AWAIT_NANOS = TimeUnit.MINUTES.toNanos(3);

  /**
   * Reasons for which the planner uses the CPU because it is faster, or completes an answer there.
   */
  private static final Set<String> PLANNED =
      Set.of(
          FallbackReason.SCAN.statisticsName(),
          FallbackReason.PLANNED.statisticsName(),
          FallbackReason.VISIT_LIMIT.statisticsName(),
          FallbackReason.FEW_HITS.statisticsName());

  // the suite has the machine to itself, so segments may take most of its memory
  private static final MemoryLimit DEVICE_MEMORY = MemoryLimit.percent(90);
  private static final MemoryLimit PAGE_CACHE = MemoryLimit.percent(60);

  // descriptors and gaps of lists on the device, at most
  private static final int BESIDE_LISTS = 8_192;

  private final AtomicReference<CudaDriver> driver;
  private final GpuExecutor executor;
  private final ExecutorService threads;
  private final Placement placement;
  private final BatchOptions batches;
  private final PlanOptions plans;
  // until the segments are there: lists come without raw vectors if there is no room for these
  private MemoryLimit deviceMemory;

  private OpenGpu(
      AtomicReference<CudaDriver> driver,
      GpuExecutor executor,
      ExecutorService threads,
      Placement placement,
      BatchOptions batches,
      PlanOptions plans,
      MemoryLimit deviceMemory) {
    this.driver = driver;
    this.executor = executor;
    this.threads = threads;
    this.placement = placement;
    this.batches = batches;
    this.plans = plans;
    this.deviceMemory = deviceMemory;
  }

  static OpenGpu open(
      Supplier<CudaDriver> drivers, Placement placement, BatchOptions batches, PlanOptions plans) {
    return open(drivers, placement, batches, plans, DEVICE_MEMORY);
  }

  /**
   * Returns the memory that segments may take. Lists placed {@code in-memory} get what they need
   * without raw vectors, which would be brought to the device, too, if there were room.
   */
  static MemoryLimit memoryFor(Placement placement, List<SegmentView> segments) {
    long bytes = 0;
    for (SegmentView segment : segments) {
      if (placement != Placement.IN_MEMORY || segment.lists() == null) {
        return DEVICE_MEMORY;
      }
      ListShape shape = segment.lists().shape();
      long starts = (long) shape.lists() * Integer.BYTES;
      long rotation =
          shape.kind().isRabitq()
              ? (long) Rotation.rounds(shape.dimension()) * shape.padded() * Float.BYTES
              : 0;
      long codebook = shape.subspaces() == 0 ? 0 : codebookBytes(shape);
      bytes += segment.lists().region().length() + starts + rotation + codebook + BESIDE_LISTS;
    }
    return MemoryLimit.bytes(bytes);
  }

  private static long codebookBytes(ListShape shape) {
    long floats = (long) shape.dimension() * Limits.CENTROIDS + shape.subspaces();
    return floats * Float.BYTES;
  }

  /** As above, with another limit of the device's memory for segments. */
  static OpenGpu open(
      Supplier<CudaDriver> drivers,
      Placement placement,
      BatchOptions batches,
      PlanOptions plans,
      MemoryLimit deviceMemory) {
    AtomicReference<CudaDriver> current = new AtomicReference<>();
    ResidencyOptions options =
        ResidencyOptions.defaults(hostBytes())
            .withPlacement(placement)
            .withLimits(deviceMemory, PAGE_CACHE)
            .withTimes(Duration.ofSeconds(60), Duration.ofMillis(200));
    int processors = Runtime.getRuntime().availableProcessors();
    ExecutorService threads = Executors.newFixedThreadPool(processors, OpenGpu::helper);
    Workers workers = new Workers(threads, processors);
    GpuExecutor executor =
        GpuExecutor.open(
            () -> {
              CudaDriver opened = drivers.get();
              current.set(opened);
              return opened;
            },
            options,
            GpuOptions.DEFAULT
                .withWorkers(workers)
                .withTimes(times -> times.selfTest(0))
                .withBatches(batches)
                .withPlans(plans)
                .withLeast(GpuOptions.LEAST_TRAINING, GpuOptions.LEAST_GRAPH)
                .withTimes(
                    times ->
                        times.retry(
                            TimeUnit.MILLISECONDS.toNanos(200), TimeUnit.SECONDS.toNanos(2))),
            new Told());
    return new OpenGpu(current, executor, threads, placement, batches, plans, deviceMemory);
  }

  private static Thread helper(Runnable work) {
    Thread thread = new Thread(work, "gpu-suite-worker");
    thread.setDaemon(true);
    return thread;
  }

  private static long hostBytes() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getTotalMemorySize();
  }

  @Override
  public SearchExecutor executor() {
    return executor;
  }

  @Override
  public String device() {
    return executor.statistics().device().name();
  }

  @Override
  public String driver() {
    int version = executor.statistics().device().driverVersion();
    return version / 1000 + "." + version % 1000 / 10;
  }

  @Override
  public CudaDriver currentDriver() {
    return driver.get();
  }

  @Override
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
    if (deviceMemory.equals(DEVICE_MEMORY) == false) {
      // launches need scratch
      deviceMemory = DEVICE_MEMORY;
      batches(0, 0);
    }
  }

  @Override
  public void batches(int mostItems, long lingerNanos) {
    executor.adjust(
        new DynamicOptions(
            deviceMemory,
            PAGE_CACHE,
            Placement.only(placement),
            mostItems > 0 ? mostItems : batches.maxBatch(),
            lingerNanos,
            batches.segmentsAhead(),
            GpuOptions.DEFAULT.waitForUpload(),
            plans.mode()));
  }

  @Override
  public Map<String, Long> fallbacks() {
    return counted("items_on_cpu");
  }

  @Override
  public Map<String, Long> plans() {
    return counted("plan_items");
  }

  private Map<String, Long> counted(String group) {
    Map<String, Long> counters = new TreeMap<>(executor.statistics().counters().get(group));
    counters.values().removeIf(count -> count == 0);
    return counters;
  }

  @Override
  public Map<String, Long> graphs() {
    return executor.statistics().counters().get("graphs");
  }

  @Override
  public Counts counts() {
    GpuStatistics statistics = executor.statistics();
    long fallbacks =
        statistics.counters().get("items_on_cpu").entrySet().stream()
            .filter(entry -> PLANNED.contains(entry.getKey()) == false)
            .mapToLong(entry -> entry.getValue())
            .sum();
    long answered =
        statistics.counters().get("items_by_placement").values().stream()
            .mapToLong(Long::longValue)
            .sum();
    return new Counts(
        answered,
        fallbacks,
        statistics.counter("batches", "launches"),
        statistics.counter("batches", "distances"),
        statistics.counter("batches", "steps"),
        statistics.counter("residency", "device_bytes")
            - statistics.counter("residency", "scratch_bytes"),
        statistics.counter("residency", "page_cache_bytes"));
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
