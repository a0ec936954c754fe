package dev.vamana.cuda;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.InterceptedDriver.Call;
import dev.vamana.cuda.driver.SeamDriver;
import dev.vamana.cuda.driver.SeamDriver.Fault;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.stock.AcceleratedReaders;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.FixedBitSet;

/** A node's life around one fault: it opens, indexes, merges, warms, searches and closes. */
final class FaultRun {

  /** Longest wait for anything; far above what any wait takes. */
  static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);

  private static final int BEAM = 32;
  // so many that lists are searched until all near hits are found
  private static final int LIST_WIDTH = 200;
  private static final int K = 5;
  private static final long DEVICE_BYTES = 256L << 20;
  private static final long SHORT_DEADLINE = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int TRIES = 20;
  private static final long SELF_TEST_NANOS = TimeUnit.MINUTES.toNanos(10);

  private final SimulatedKernels kernels;
  private final FaultCell cell;
  private final Path served;
  private final List<Integer> indexed;
  private final List<Integer> merged;
  private final Path scratch;
  private final Random random;
  private final CountDownLatch end = new CountDownLatch(1);
  private final List<SeamDriver> drivers = new ArrayList<>();
  private final Told told = new Told();
  private final AtomicLong pinned = new AtomicLong();

  /**
   * The end of a run.
   *
   * @param hit whether the fault was met
   * @param what the reasons that were counted, and whether the context was replaced
   * @param calls calls of the phase
   */
  record Outcome(boolean hit, Set<String> what, Map<Call, Integer> calls) {}

  /**
   * Prepares a run.
   *
   * @param cell the fault; without a call the run only counts calls
   * @param served folder of an index, made by {@link FaultIndex#write}
   * @param indexed what {@link FaultIndex#index} returns on a CPU
   * @param merged the same with a merge
   * @param scratch an empty folder
   */
  FaultRun(
      SimulatedKernels kernels,
      FaultCell cell,
      Path served,
      List<Integer> indexed,
      List<Integer> merged,
      Path scratch,
      long seed) {
    this.kernels = kernels;
    this.cell = cell;
    this.served = served;
    this.indexed = indexed;
    this.merged = merged;
    this.scratch = scratch;
    this.random = new Random(seed);
  }

  /** Remembers what an operator is told. */
  private static final class Told implements GpuListener {
    final List<FallbackReason> reasons = new ArrayList<>();
    int losses;
    int refusals;
    int failures;

    @Override
    public synchronized void fallback(FallbackReason reason, String detail) {
      reasons.add(reason);
    }

    @Override
    public synchronized void lost(GpuException cause, long retryMillis) {
      losses++;
    }

    @Override
    public void stillLost(GpuException cause, long retryMillis) {}

    @Override
    public void recovered(DeviceInfo device) {}

    @Override
    public synchronized void refused(String segment, GpuException cause) {
      refusals++;
    }

    @Override
    public synchronized void uploadFailed(String segment, Throwable cause) {
      failures++;
    }
  }

  private GpuOptions options() {
    HostMemoryAccount account =
        new HostMemoryAccount() {
          @Override
          public boolean reserve(long bytes) {
            pinned.addAndGet(bytes);
            return true;
          }

          @Override
          public void release(long bytes) {
            pinned.addAndGet(-bytes);
          }
        };
    GpuOptions options =
        GpuOptions.DEFAULT
            .withTimes(
                times ->
                    times.selfTest(cell.phase() == FaultCell.Phase.OPENING ? SELF_TEST_NANOS : 0))
            .withBatches(GpuTestCase.BATCHES)
            .withPlan(cell.route().plan())
            .withTimes(times -> times.retry(1_000_000, 8_000_000))
            .withHostMemory(account)
            .withLeast(1, GpuOptions.NO_GRAPHS);
    return cell.fault() == Fault.ENDLESS
        ? options.withTimes(times -> times.deadline(SHORT_DEADLINE))
        : options;
  }

  private SeamDriver driver() {
    boolean threaded = cell.fault() == Fault.ENDLESS || random.nextBoolean();
    SeamDriver driver = SeamDriver.make(kernels, DEVICE_BYTES, threaded, end);
    driver.givenUp(
        () -> told.losses > 0 || (cell.phase() == FaultCell.Phase.CLOSING && driver.hit()));
    synchronized (drivers) {
      if (drivers.isEmpty() && cell.phase() == FaultCell.Phase.OPENING) {
        arm(driver);
      }
      drivers.add(driver);
    }
    return driver;
  }

  private SeamDriver first() {
    synchronized (drivers) {
      return drivers.get(0);
    }
  }

  private void arm(SeamDriver driver) {
    if (cell.call() == null) {
      driver.count();
    } else {
      driver.arm(cell.call(), cell.fault(), cell.n());
    }
  }

  private GpuExecutor open() {
    ResidencyOptions residency =
        ResidencyOptions.defaults(1L << 30)
            .withPlacement(cell.route().placement())
            .withLimits(MemoryLimit.percent(60), MemoryLimit.percent(60))
            .withTimes(Duration.ZERO, Duration.ZERO);
    return GpuExecutor.open(this::driver, residency, options(), told);
  }

  /** Runs the cell and checks what has to hold in each. */
  Outcome run() throws Exception {
    TreeSet<String> what = new TreeSet<>();
    ExecutorRegistry.Installation installation;
    try {
      installation = ExecutorRegistry.install(this::open);
    } catch (GpuException e) {
      if (cell.phase() != FaultCell.Phase.OPENING) {
        throw e;
      }
      check("the driver is closed", first()::closed);
      checkGivenBack();
      first().heal();
      what.add("not opened");
      installation = ExecutorRegistry.install(this::open);
    }
    GpuExecutor executor = (GpuExecutor) installation.executor();
    Map<Call, Integer> calls = null;
    try {
      switch (cell.phase()) {
        case OPENING -> calls = ended();
        case INDEXING -> calls = index(false);
        case MERGING -> calls = index(true);
        default -> {}
      }
      try (Directory directory = new MMapDirectory(served)) {
        if (cell.phase() == FaultCell.Phase.WARMING) {
          arm(first());
        }
        DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory));
        try {
          List<SegmentView> views = FaultIndex.views(reader);
          views.forEach(executor::warm);
          settle(executor);
          if (cell.phase() == FaultCell.Phase.WARMING) {
            calls = ended();
          }
          if (cell.phase() == FaultCell.Phase.SEARCHING) {
            answers(executor, views);
            arm(first());
          }
          answers(executor, views);
          if (cell.phase() == FaultCell.Phase.SEARCHING) {
            calls = ended();
          }
          end.countDown();
          if (recovers(executor, views) == false) {
            what.add("stays on the CPU");
          }
          if (cell.phase() == FaultCell.Phase.CLOSING) {
            arm(first());
          }
        } finally {
          reader.close();
        }
      }
    } finally {
      installation.close();
    }
    if (cell.phase() == FaultCell.Phase.CLOSING) {
      calls = ended();
    }
    end.countDown();
    for (SeamDriver driver : drivers()) {
      check("every driver is closed", driver::closed);
    }
    checkGivenBack();
    count(executor, what);
    return new Outcome(first().hit(), what, calls);
  }

  private List<SeamDriver> drivers() {
    synchronized (drivers) {
      return List.copyOf(drivers);
    }
  }

  private Map<Call, Integer> ended() {
    Map<Call, Integer> calls = first().counts();
    first().heal();
    return calls;
  }

  private void checkGivenBack() {
    for (SeamDriver driver : drivers()) {
      if (driver.problem() != null) {
        throw new AssertionError(cell.toString(), driver.problem());
      }
    }
    if (pinned.get() != 0) {
      throw new AssertionError(pinned + " bytes of pinned memory are still counted");
    }
  }

  /** Reads the counters, and checks that each reason was told once. */
  private void count(GpuExecutor executor, TreeSet<String> what) {
    GpuStatistics statistics = executor.statistics();
    long lost = statistics.counter("contexts", "lost");
    List<FallbackReason> counted = new ArrayList<>();
    for (FallbackReason reason : FallbackReason.values()) {
      if (reason.failure() && told.reasons.contains(reason)) {
        counted.add(reason);
        boolean follows =
            reason == FallbackReason.CONTEXT_LOST || reason == FallbackReason.NO_DEVICE;
        if (lost == 0 || follows == false) {
          what.add(reason.statisticsName());
        }
      }
    }
    for (String reason : List.of("failed", "out_of_memory")) {
      if (lost == 0 && statistics.counter("training_on_cpu", reason) > 0) {
        what.add("training " + reason);
      }
    }
    if (statistics.counter("residency", "upload_failures") > 0) {
      what.add("upload failed");
    }
    if (statistics.counter("contexts", "questions_left_out") > 0) {
      what.add("search left out");
    }
    if (lost > 0) {
      what.add("new context");
    }
    if (told.refusals > 0) {
      what.add("placement refused");
    }
    if (counted.size() != told.reasons.size()) {
      throw new AssertionError("told more than once: " + told.reasons);
    }
    if (told.losses > lost) {
      throw new AssertionError(told.losses + " losses were told, " + lost + " were counted");
    }
  }

  private Map<Call, Integer> index(boolean merge) throws IOException {
    AtomicReference<Map<Call, Integer>> calls = new AtomicReference<>();
    List<Integer> codes =
        FaultIndex.index(
            scratch,
            merge,
            () -> arm(first()),
            () -> {
              calls.set(ended());
              end.countDown();
            });
    List<Integer> expected = merge ? merged : indexed;
    if (codes.equals(expected) == false) {
      throw new AssertionError(cell + ": codes differ from the CPU's");
    }
    return calls.get();
  }

  /** Queries with and without a filter. */
  private List<WorkItem> items(List<SegmentView> views) throws IOException {
    List<WorkItem> items = new ArrayList<>();
    for (SegmentView view : views) {
      FixedBitSet most = new FixedBitSet(view.size());
      for (int i = 0; i < view.size(); i++) {
        if (random.nextInt(10) < 8) {
          most.set(i);
        }
      }
      WalkParameters walk =
          cell.route() == FaultCell.Route.EXACT
                  || cell.route() == FaultCell.Route.STOCK
                  || cell.route().lists()
              ? WalkParameters.exact(cell.route().lists() ? LIST_WIDTH : BEAM)
              : WalkParameters.quantized(BEAM, WalkParameters.RERANK_EXPANDED);
      for (int i = 0; i < 4; i++) {
        FixedBitSet accepted = i % 2 == 0 ? null : most;
        items.add(Walks.item(view, QueryVector.of(FaultIndex.vector(random)), K, walk, accepted));
      }
    }
    return items;
  }

  /** Searches alone and in a batch, and compares with the CPU. */
  private void answers(GpuExecutor executor, List<SegmentView> views) throws IOException {
    List<WorkItem> items = items(views);
    List<WorkResult> results = new ArrayList<>(executor.search(items));
    for (int i = 0; i < 2; i++) {
      WorkItem item = items.get(random.nextInt(items.size()));
      items.add(item);
      results.addAll(executor.search(List.of(item)));
    }
    for (int i = 0; i < items.size(); i++) {
      same(CpuExecutor.scan(items.get(i)), results.get(i));
    }
  }

  /** Scores rather than ordinals: neighbours that are equally near may change places. */
  private void same(WorkResult expected, WorkResult actual) {
    boolean same = expected.scores().length == actual.scores().length && actual.complete();
    for (int rank = 0; same && rank < expected.scores().length; rank++) {
      float score = expected.scores()[rank];
      same = Math.abs(score - actual.scores()[rank]) <= 1e-4f * Math.abs(score);
    }
    if (same == false) {
      throw new AssertionError(cell + ": expected " + expected + ", got " + actual);
    }
  }

  /** Waits until no segment waits for its upload. */
  private void settle(GpuExecutor executor) throws InterruptedException {
    check(
        "uploads end",
        () -> {
          GpuStatistics now = executor.statistics();
          return now.usable() == false || now.counter("residency", "segments_waiting") == 0;
        });
  }

  /** Searches until the device answers again. Returns false if it refuses the segments. */
  private boolean recovers(GpuExecutor executor, List<SegmentView> views) throws Exception {
    check("a context is open again", () -> executor.statistics().usable());
    long start = System.nanoTime();
    for (int tries = 0; tries < TRIES; ) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new AssertionError(
            cell + ": the device does not answer: " + executor.statistics().counters());
      }
      settle(executor);
      long before = answered(executor);
      answers(executor, views);
      if (answered(executor) > before) {
        return true;
      }
      boolean waiting =
          views.stream()
              .anyMatch(view -> executor.presence(view).state() != DevicePresence.State.REFUSED);
      tries += waiting ? 0 : 1;
    }
    return false;
  }

  private static long answered(GpuExecutor executor) {
    return executor.statistics().counters().get("items_by_placement").values().stream()
        .mapToLong(count -> count)
        .sum();
  }

  private void check(String what, BooleanSupplier condition) throws InterruptedException {
    long start = System.nanoTime();
    while (condition.getAsBoolean() == false) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new AssertionError(cell + ": not within two minutes: " + what);
      }
      Thread.sleep(1);
    }
  }
}
