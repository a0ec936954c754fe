package dev.vamana.tools.gpu;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.figures.Sheet;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.lucene.search.TopDocs;

/**
 * Compares several devices with one: large batches of eight callers over eight segments, which are
 * divided among the devices, and over one, which is copied. Graphs are also searched while a device
 * is lost, and with a limit of memory that makes one device too small.
 */
final class DevicesStage implements Stage {

  private static final int K = BenchStage.K;
  private static final int[] SEGMENTS = {8, 1};

  /** Callers of large batches: the work of one between its calls must not leave devices idle. */
  private static final int CALLERS = 8;

  private static final double RECALL = 0.95;

  private static final long HOST_BYTES = Long.MAX_VALUE / 100;
  private static final MemoryLimit PAGES = MemoryLimit.percent(60);

  /** Share of all segments that fits on each device of the set that is too large for one. */
  private static final int SMALL_PERCENT = 65;

  private static final long LOST_MILLIS = 1_500;
  private static final long COPY_SECONDS = 15;

  private final String setName;
  private final BenchStage.Kind kind;

  /** Compares walks of a kind of graph, or searches of lists. */
  DevicesStage(String setName, BenchStage.Kind kind) {
    this.setName = setName;
    this.kind = kind;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    int most = context.options().devices();
    if (most < 2) {
      throw new IllegalArgumentException("--devices must be 2 or more, got " + most);
    }
    SuiteSet set = SuiteSet.load(context.options(), setName);
    for (int segments : SEGMENTS) {
      String name = set.index(kind.name().toLowerCase(Locale.ROOT) + "-" + segments);
      try (SetIndex index =
          SetIndex.open(context.index(name), set, kind.format(context), segments, 1)) {
        for (Placement placement : context.options().placementsOr(List.of(Placement.EXACT))) {
          for (int count : new int[] {1, most}) {
            measure(context, set, index, placement, count);
          }
        }
        if (kind == BenchStage.Kind.GRAPH && segments > 1) {
          lose(context, set, index, most);
        }
      }
    }
  }

  private void measure(
      Context context, SuiteSet set, SetIndex index, Placement placement, int count)
      throws IOException, InterruptedException {
    List<SegmentView> views = index.views();
    try (DevicesExecutor executor =
        open(context, placement, count, Gpu.MOST_MEMORY, context.drivers())) {
      views.forEach(executor::opened);
      settle(executor, views);
      BatchedKnn knn = new BatchedKnn(index.searcher(), executor);
      BeamSweep sweep = BeamSweep.run(RECALL, beam -> recall(set, knn, walk(placement, beam)));
      int beam = sweep.recalls().lastKey();
      double recall = sweep.recalls().get(beam);
      WalkParameters walk = walk(placement, beam);
      int batch = context.options().largestBatch();
      ask(set, knn, walk, batch, context.options().seconds());
      // a segment may be copied to another device after the first calls
      if (batch >= DevicesExecutor.Spread.DEFAULT.divided()) {
        settleCopies(executor, views, count);
      }
      ask(set, knn, walk, batch, context.options().seconds());
      long uploads = uploads(executor);
      Callers.Times times = ask(set, knn, walk, batch, 3 * context.options().seconds());
      context
          .figures()
          .add(
              Sheet.DEVICES,
              set.subject(),
              kind.method(),
              placement.settingName(),
              views.size(),
              count,
              recall,
              times.perSecond() * batch);
      context.say(
          "%s %s: %d segments on %d devices: recall %.4f, %,.0f queries/s",
          set.subject().set(),
          kind.method(),
          views.size(),
          count,
          recall,
          times.perSecond() * batch);
      context.say(
          "items by device since the beginning: %s, uploads %d, of them while measured %d",
          executor.statistics().stream().map(each -> each.counter("routed", "items")).toList(),
          uploads,
          uploads(executor) - uploads);
      views.forEach(executor::closing);
    }
  }

  private static long uploads(DevicesExecutor executor) {
    return executor.statistics().stream()
        .mapToLong(each -> each.counter("residency", "uploads"))
        .sum();
  }

  /**
   * Searches a set that is too large for one device, and while a device is gone and comes back.
   * Every batch is compared with the answers from before.
   */
  private void lose(Context context, SuiteSet set, SetIndex index, int count)
      throws IOException, InterruptedException {
    List<SegmentView> views = index.views();
    AtomicInteger lost = new AtomicInteger(-1);
    try (DevicesExecutor executor =
        open(
            context,
            Placement.EXACT,
            count,
            MemoryLimit.bytes(bytes(context, views) * SMALL_PERCENT / 100),
            ordinal -> {
              Supplier<CudaDriver> opener = context.drivers().apply(ordinal);
              return () -> new LosableDriver(opener, () -> lost.get() == ordinal);
            })) {
      views.forEach(executor::opened);
      settle(executor, views);
      context.say("too large for one device: %d of 8 resident", resident(executor, views));
      BatchedKnn knn = new BatchedKnn(index.searcher(), executor);
      WalkParameters walk = walk(Placement.EXACT, 40);
      double recall = recall(set, knn, walk);
      int batches =
          batchesWhileLost(
              context,
              set,
              knn,
              walk,
              back -> {
                long resident = resident(executor, views);
                lost.set(back ? -1 : count - 1);
                return resident;
              });
      context.say(
          "%d batches while a device was lost and came back, none failed; recall before %.4f,"
              + " after %.4f; uploads %d",
          batches, recall, recall(set, knn, walk), uploads(executor));
      views.forEach(executor::closing);
    }
  }

  /** Takes a device away, or gives it back. Returns the number of resident segments before. */
  private interface Loss {
    long lose(boolean back);
  }

  private static int batchesWhileLost(
      Context context, SuiteSet set, BatchedKnn knn, WalkParameters walk, Loss loss)
      throws IOException {
    AtomicBoolean done = new AtomicBoolean();
    List<Integer> batches =
        Callers.together(
            CALLERS + 1,
            thread -> {
              int own = 0;
              if (thread > 0) {
                while (done.get() == false) {
                  search(set, knn, walk, own, context.options().largestBatch() / 10);
                  own++;
                }
                return own;
              }
              try {
                Thread.sleep(LOST_MILLIS);
                context.say("before the loss: %d of 8 resident", loss.lose(false));
                Thread.sleep(LOST_MILLIS);
                context.say("while lost: %d of 8 resident", loss.lose(true));
                Thread.sleep(4 * LOST_MILLIS);
                context.say("back again: %d of 8 resident", loss.lose(true));
              } finally {
                done.set(true);
              }
              return 0;
            });
    return batches.stream().mapToInt(Integer::intValue).sum();
  }

  /** Returns the memory that segments take on a device. */
  private static long bytes(Context context, List<SegmentView> views) throws InterruptedException {
    try (DevicesExecutor one =
        open(context, Placement.EXACT, 1, Gpu.MOST_MEMORY, context.drivers())) {
      views.forEach(one::opened);
      settle(one, views);
      long bytes = views.stream().mapToLong(view -> one.presence(view).deviceBytes()).sum();
      views.forEach(one::closing);
      return bytes;
    }
  }

  private static long resident(DevicesExecutor executor, List<SegmentView> views) {
    return views.stream()
        .filter(view -> executor.presence(view).state() == DevicePresence.State.RESIDENT)
        .count();
  }

  /** A device that falls off the bus when it is told to, and cannot be opened until it is back. */
  private static final class LosableDriver extends ForwardingDriver {
    private final BooleanSupplier gone;

    LosableDriver(Supplier<CudaDriver> opener, BooleanSupplier gone) {
      super(opened(opener, gone));
      this.gone = gone;
    }

    private static CudaDriver opened(Supplier<CudaDriver> opener, BooleanSupplier gone) {
      if (gone.getAsBoolean()) {
        throw new GpuException(GpuException.Kind.UNAVAILABLE, "the device is gone");
      }
      return opener.get();
    }

    @Override
    protected CudaDriver target() {
      if (gone.getAsBoolean()) {
        throw new GpuException(GpuException.Kind.CONTEXT_LOST, "the device fell off the bus");
      }
      return driver;
    }
  }

  private static DevicesExecutor open(
      Context context,
      Placement placement,
      int count,
      MemoryLimit limit,
      IntFunction<Supplier<CudaDriver>> drivers) {
    ResidencyOptions residency =
        ResidencyOptions.defaults(HOST_BYTES)
            .withPlacement(placement)
            .withLimits(limit, PAGES.part(count))
            .withTimes(Duration.ofSeconds(60), Duration.ofMillis(200));
    GpuOptions options =
        GpuOptions.DEFAULT.withTimes(times -> times.selfTest(0)).withPlans(Gpu.WALKS);
    return DevicesExecutor.open(
        count,
        (ordinal, changed) ->
            GpuExecutor.open(drivers.apply(ordinal), residency, options, new Changes(changed)),
        limit,
        DevicesExecutor.Spread.DEFAULT,
        e -> context.say("segments are not spread: %s", e));
  }

  /** Waits until no segment is on its way. */
  private static void settle(DevicesExecutor executor, List<SegmentView> views)
      throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    while (views.stream()
        .anyMatch(view -> executor.presence(view).state() == DevicePresence.State.WAITING)) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("segments are still on their way after three minutes");
      }
      Thread.sleep(2);
    }
  }

  /** Waits for copies, where one device has all segments and another has room. */
  private static void settleCopies(DevicesExecutor executor, List<SegmentView> views, int count)
      throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(COPY_SECONDS);
    while (count > 1
        && views.stream().map(executor::devices).distinct().count() == 1
        && executor.devices(views.get(0)).size() == 1
        && System.nanoTime() < end) {
      Thread.sleep(2);
    }
    settle(executor, views);
  }

  private WalkParameters walk(Placement placement, int beam) {
    return placement.precision() == Precision.PQ && kind != BenchStage.Kind.LISTS
        ? WalkParameters.quantized(beam, 0)
        : WalkParameters.exact(beam);
  }

  private static TopDocs[] search(
      SuiteSet set, BatchedKnn knn, WalkParameters walk, int from, int count) throws IOException {
    float[][] queries = set.vectors().queries().rows();
    List<QueryVector> vectors = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      vectors.add(QueryVector.of(queries[(from + i) % queries.length]));
    }
    return knn.search(SetIndex.FIELD, vectors, walk, K, null);
  }

  private static double recall(SuiteSet set, BatchedKnn knn, WalkParameters walk)
      throws IOException {
    TopDocs[] found = search(set, knn, walk, 0, set.vectors().queries().size());
    return new Recall(set.vectors(), K)
        .of(
            Arrays.stream(found)
                .map(hits -> Arrays.stream(hits.scoreDocs).mapToInt(hit -> hit.doc).toArray())
                .toArray(int[][]::new));
  }

  private static Callers.Times ask(
      SuiteSet set, BatchedKnn knn, WalkParameters walk, int batch, double seconds)
      throws IOException, InterruptedException {
    int size = set.vectors().queries().size();
    return Callers.loop(
        CALLERS,
        seconds,
        2,
        id -> number -> search(set, knn, walk, (int) ((id + number) * (long) batch % size), batch));
  }

  /** Tells the executor of a device that went or came. */
  private record Changes(Runnable changed) implements GpuListener {
    @Override
    public void fallback(FallbackReason reason, String detail) {}

    @Override
    public void lost(GpuException cause, long retryMillis) {
      changed.run();
    }

    @Override
    public void stillLost(GpuException cause, long retryMillis) {}

    @Override
    public void recovered(DeviceInfo device) {
      changed.run();
    }
  }
}
