package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.DeviceInfo;
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
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.search.TopDocs;

/**
 * Compares several devices with one: large batches of eight callers over eight segments, with
 * graphs or with inverted lists. The segments are where balancing has put them.
 */
final class DevicesStage implements Stage {

  private static final int K = BenchStage.K;
  private static final int SEGMENTS = 8;

  /** Callers of large batches: the work of one between its calls must not leave devices idle. */
  private static final int CALLERS = 8;

  private static final double RECALL = 0.95;

  private static final long HOST_BYTES = Long.MAX_VALUE / 100;
  private static final MemoryLimit PAGES = MemoryLimit.percent(60);

  private final String setName;
  private final boolean lists;

  /** Compares walks, or searches of lists. */
  DevicesStage(String setName, boolean lists) {
    this.setName = setName;
    this.lists = lists;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    int most = context.options().devices();
    if (most < 2) {
      throw new IllegalArgumentException("--devices must be 2 or more, got " + most);
    }
    SuiteSet set = SuiteSet.load(context.options(), setName);
    VamanaVectorsFormat format =
        lists
            ? BuildStage.lists(context)
            : new VamanaVectorsFormat(context.parameters(), context.workers());
    String name = set.index((lists ? "vamana-ivf-" : "vamana-") + SEGMENTS);
    List<Placement> usual =
        lists ? List.of(Placement.EXACT) : List.of(Placement.EXACT, Placement.MAPPED_GRAPH);
    try (SetIndex index = SetIndex.open(context.index(name), set, format, SEGMENTS, 1)) {
      for (Placement placement : context.options().placementsOr(usual)) {
        for (int count : new int[] {1, most}) {
          measure(context, set, index, placement, count);
        }
      }
    }
  }

  private void measure(
      Context context, SuiteSet set, SetIndex index, Placement placement, int count)
      throws IOException, InterruptedException {
    List<SegmentView> views = index.views();
    try (DevicesExecutor executor = open(context, placement, count)) {
      views.forEach(executor::opened);
      settle(executor, views);
      BatchedKnn knn = new BatchedKnn(index.searcher(), executor);
      BeamSweep sweep = BeamSweep.run(RECALL, beam -> recall(set, knn, walk(placement, beam)));
      int beam = sweep.recalls().lastKey();
      double recall = sweep.recalls().get(beam);
      WalkParameters walk = walk(placement, beam);
      int batch = context.options().largestBatch();
      ask(set, knn, walk, batch, context.options().seconds());
      Callers.Times times = ask(set, knn, walk, batch, 3 * context.options().seconds());
      context.searched(
          set.subject(),
          (lists ? "vamana-ivf" : "vamana-gpu") + " on " + count + " devices",
          placement.settingName(),
          batch,
          CALLERS,
          recall,
          times.perSecond() * batch,
          times.quantile(0.5));
      context.say(
          "items by device since the beginning: %s",
          executor.statistics().stream().map(each -> each.counter("routed", "items")).toList());
      views.forEach(executor::closing);
    }
  }

  private static DevicesExecutor open(Context context, Placement placement, int count) {
    ResidencyOptions residency =
        ResidencyOptions.defaults(HOST_BYTES)
            .withPlacement(placement)
            .withLimits(Gpu.MOST_MEMORY, PAGES.part(count))
            .withTimes(Duration.ofSeconds(60), Duration.ofMillis(200));
    GpuOptions options =
        GpuOptions.DEFAULT.withTimes(times -> times.selfTest(0)).withPlans(Gpu.WALKS);
    return DevicesExecutor.open(
        count,
        (ordinal, changed) ->
            GpuExecutor.open(
                context.drivers().apply(ordinal), residency, options, new Changes(changed)),
        Gpu.MOST_MEMORY,
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

  private WalkParameters walk(Placement placement, int beam) {
    return placement.precision() == Precision.PQ && lists == false
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
