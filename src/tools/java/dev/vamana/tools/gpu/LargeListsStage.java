package dev.vamana.tools.gpu;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Inverted lists over the vectors of {@link LargeStage}, in one segment: built in one merge, whose
 * nearest centroids the device finds, and searched at every number of candidates, so that a curve
 * of speed over recall comes out. If the graph over the same vectors was built before, its curve is
 * measured beside, in the same process.
 *
 * <p>With {@code --device=-1} the CPU builds and searches. {@code --methods=vamana-ivf} leaves the
 * graph out, and {@code --methods=delete} deletes the file of generated vectors after the build.
 */
final class LargeListsStage implements Stage {

  /** Section of the curves of graphs. */
  static final String GRAPH_SECTION = "large_graph_beside_lists";

  private static final String GRAPH = "vamana-gpu";
  private static final String CPU = "cpu";
  // a method of the options that is no method of searching
  private static final String DELETE = "delete";
  private static final double[] TARGETS = {0.95, 0.99};
  // recall of a quarter of the ordinals below which something is wrong with their offsets
  private static final double LEAST = 0.7;
  private static final int[] WIDTHS = {
    10, 12, 14, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512
  };
  private static final int PARENTS = 4;
  private static final int CALLERS = 3;
  private static final int SAMPLES = 25;
  private static final int SINGLE_SAMPLES = 200;
  private static final double WARM_UP_SECONDS = 2;

  private final int size;
  private final List<LargeStage.Part> parts;
  private final Supplier<CudaDriver> drivers;
  private final VamanaParameters parameters;

  LargeListsStage(int millions, LargeStage.Part... parts) {
    this(millions * 1_000_000, Gpu::openDriver, VamanaParameters.DEFAULT, parts);
  }

  /**
   * Makes a stage with other devices and parameters.
   *
   * @param parameters of the graph beside the lists, whose index they name
   */
  LargeListsStage(
      int size,
      Supplier<CudaDriver> drivers,
      VamanaParameters parameters,
      LargeStage.Part... parts) {
    this.size = size;
    this.drivers = drivers;
    this.parameters = parameters;
    this.parts = List.of(parts);
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    int n = Math.min(size, context.options().limit());
    Path folder = LargeStage.folder(context);
    Path index = folder.resolve("index-" + n + "-" + ListsStage.METHOD);
    boolean device = context.options().device() >= 0;
    if (parts.contains(LargeStage.Part.BUILD)) {
      if (LargeIndex.isThere(index)) {
        context.say("%s is there", index);
      } else {
        build(context, folder, index, n, device);
      }
    }
    if (parts.contains(LargeStage.Part.SEARCH)) {
      search(context, folder, index, n, device);
    }
  }

  private static Map<String, Object> row(int n, String method, String what) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", LargeSet.NAME + "-" + n);
    row.put("n", n);
    row.put("method", method);
    row.put("what", what);
    return row;
  }

  private void build(Context context, Path folder, Path index, int n, boolean device)
      throws IOException {
    Map<String, Object> row = row(n, ListsStage.METHOD, LargeTables.BUILD);
    VamanaParameters lists =
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.DEFAULT);
    try (LargeVectors vectors = LargeVectors.open(context, folder, n)) {
      LargeIndex.Built built =
          device
              ? buildOnDevice(context, index, vectors, lists, row)
              : LargeIndex.measured(context, index, vectors, lists, row, () -> null);
      row.put("threads", context.workers().threads());
      row.put("seconds", Samples.round(built.seconds(), 2));
      row.put("list_seconds", Samples.round(built.lists(), 2));
      row.put("vectors_per_second", Samples.round(n / built.seconds(), 0));
    }
    if (context.options().methods().contains(DELETE)) {
      LargeVectors.delete(folder);
    }
    try (LargeIndex opened = LargeIndex.open(index, n)) {
      row.put("codes", opened.view().lists().shape().kind().settingName());
      row.put("lists", opened.view().lists().shape().lists());
      row.put("list_bytes", opened.view().lists().region().length());
      row.put("disk_bytes", opened.bytes().values().stream().mapToLong(Long::longValue).sum());
    }
    context.fragment().add(LargeStage.SECTION, row);
    context.say("%s", row);
  }

  private LargeIndex.Built buildOnDevice(
      Context context,
      Path index,
      LargeVectors vectors,
      VamanaParameters lists,
      Map<String, Object> row)
      throws IOException {
    try (Gpu gpu = Gpu.open(drivers, Placement.EXACT, Tuning.DEFAULT);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
      if (installation.executor() != gpu.executor()
          || !(installation.executor() instanceof GpuExecutor executor)) {
        throw new IllegalStateException("another executor is installed");
      }
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      LargeIndex.Built built =
          LargeIndex.measured(context, index, vectors, lists, row, gpu::currentDriver);
      long assigned = executor.statistics().counters().get("training").get("vectors_assigned");
      if (assigned < vectors.size()) {
        throw new IllegalStateException(
            "the device assigned " + assigned + " of " + vectors.size() + " vectors");
      }
      row.put("vectors_assigned", assigned);
      return built;
    }
  }

  private void search(Context context, Path folder, Path path, int n, boolean device)
      throws IOException, InterruptedException {
    List<String> methods =
        context.options().methods().stream().filter(name -> name.equals(DELETE) == false).toList();
    Path graph = LargeStage.index(folder, n, parameters);
    try (LargeIndex index = LargeIndex.open(path, n)) {
      LargeTruth truth = LargeStage.truth(context, folder, index, n, device ? drivers : null);
      if (methods.isEmpty() || methods.contains(ListsStage.METHOD)) {
        for (Placement placement : List.of(Placement.EXACT, Placement.IN_MEMORY)) {
          for (int sharing : context.options().sharing()) {
            search(
                context,
                index,
                truth,
                device ? placement : null,
                ListsStage.METHOD + ListsStage.together(sharing),
                sharing);
          }
          if (device == false) {
            break;
          }
        }
      }
      if (LargeIndex.isThere(graph) == false) {
        context.say("no graph beside the lists: %s is not there", graph);
      } else if (methods.isEmpty() || methods.contains(GRAPH)) {
        try (LargeIndex other = LargeIndex.open(graph, n)) {
          search(context, other, truth, device ? Placement.EXACT : null, GRAPH, 0);
        }
      }
    }
  }

  /** Searches with a placement, or with the CPU if there is none. */
  private void search(
      Context context,
      LargeIndex index,
      LargeTruth truth,
      Placement placement,
      String method,
      int sharing)
      throws IOException, InterruptedException {
    SegmentView view = index.view();
    if (placement == null) {
      SearchExecutor cpu = new CpuExecutor(context.workers());
      measure(context, index, truth, cpu, null, row(view.size(), method, CPU));
      return;
    }
    List<String> chosen = context.options().placements();
    if (chosen.isEmpty() == false && chosen.contains(placement.settingName()) == false) {
      return;
    }
    long start = System.nanoTime();
    try (Gpu gpu =
        OpenGpu.open(
            ListSteps.drivers(context.options(), drivers),
            placement,
            BatchOptions.DEFAULT.withTuning(Tuning.DEFAULT.withListSharing(sharing)),
            Gpu.WALKS,
            OpenGpu.memoryFor(placement, List.of(view)))) {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      gpu.executor().opened(view);
      gpu.await(List.of(view));
      Map<String, Object> row = row(view.size(), method, placement.settingName());
      Gpu.Counts counts = gpu.counts();
      row.put("placed_seconds", Samples.round((System.nanoTime() - start) * 1e-9, 2));
      row.put("device_bytes", counts.deviceBytes());
      row.put("pinned_bytes", counts.pinnedBytes());
      measure(context, index, truth, gpu.executor(), gpu, row);
      if (gpu.counts().fallbacks() > 0) {
        throw new IllegalStateException("the CPU answered: " + gpu.fallbacks());
      }
    }
  }

  /**
   * Times ever more candidates until all targets are reached, then the least that reach a target at
   * greater length and for one query.
   *
   * @param gpu counts lists and vectors; null for the CPU
   * @param row what all rows begin with
   */
  private static void measure(
      Context context,
      LargeIndex index,
      LargeTruth truth,
      SearchExecutor executor,
      Gpu gpu,
      Map<String, Object> row)
      throws IOException, InterruptedException {
    boolean lists = index.view().lists() != null;
    QueryVector[] queries =
        Arrays.stream(new LargeSet().queries(LargeStage.batch(context)))
            .map(QueryVector::of)
            .toArray(QueryVector[]::new);
    QueryVector[] judged = Arrays.copyOf(queries, truth.queries().length);
    BatchRun sample = new BatchRun(executor, index.view(), judged, LargeTruth.K);
    BatchRun run = new BatchRun(executor, index.view(), queries, LargeTruth.K);
    int batch = gpu != null ? queries.length : judged.length;
    int callers = gpu != null ? CALLERS : 1;
    double seconds = context.options().seconds();
    double warmUp = Math.min(WARM_UP_SECONDS, 5 * seconds);
    run.time(walk(WIDTHS[0]), batch, callers, warmUp, 1);
    List<Map<String, Object>> curve = new ArrayList<>();
    int reached = 0;
    for (int i = 0; i < WIDTHS.length && reached < TARGETS.length; i++) {
      int width = WIDTHS[i];
      Gpu.Counts before = gpu == null ? null : gpu.counts();
      int[][] hits = sample.hits(walk(width));
      Gpu.Counts work = gpu == null ? null : gpu.counts().since(before);
      double recall = truth.recall(hits, index.values());
      double least = truth.leastRecallOfQuarter(hits, index.view().size());
      if (recall >= TARGETS[0] && least < LEAST) {
        throw new IllegalStateException("of a quarter of the ordinals " + least + " is found");
      }
      double[] batches = run.time(walk(width), batch, callers, seconds, SAMPLES);
      Map<String, Object> point = new LinkedHashMap<>();
      point.put("beam", width);
      point.put("recall_at_10", Samples.round(recall, 5));
      point.put("qps", Samples.round(Samples.qps(batch, callers, batches), 0));
      curve.add(point);
      context.say("%s %s: %s", row.get("method"), row.get("what"), point);
      if (gpu != null && lists && recall >= TARGETS[0] && ListSteps.wanted(context.options())) {
        Map<String, Object> steps = new LinkedHashMap<>(row);
        steps.put("beam", width);
        steps.put("recall_at_10", Samples.round(recall, 5));
        ListSteps.measure(context, gpu, run, walk(width), steps, batch, callers);
        return;
      }
      while (reached < TARGETS.length && recall >= TARGETS[reached]) {
        Map<String, Object> target = new LinkedHashMap<>(row);
        target.put("target", TARGETS[reached]);
        target.put("beam", width);
        target.put("recall_at_10", Samples.round(recall, 5));
        target.put("least_of_a_quarter", Samples.round(least, 5));
        if (work != null) {
          String steps = lists ? "lists_searched" : "steps";
          target.put(steps, Samples.round(work.steps() / (double) work.answered(), 1));
          target.put("scored", Samples.round(work.distances() / (double) work.answered(), 1));
        }
        batches = run.time(walk(width), batch, callers, 2 * seconds, SAMPLES);
        double[] alone = run.time(walk(width), 1, 1, seconds, SINGLE_SAMPLES);
        target.put("batch", batch);
        target.put("callers", callers);
        target.put("qps", Samples.round(Samples.qps(batch, callers, batches), 0));
        target.put("p50_us_of_one", Samples.round(Samples.median(alone), 1));
        context.say("%s", target);
        context.fragment().add(lists ? LargeStage.SECTION : GRAPH_SECTION, target);
        reached++;
      }
    }
    Map<String, Object> all = new LinkedHashMap<>(row);
    all.put("curve", curve);
    context.fragment().add(lists ? LargeStage.SECTION : GRAPH_SECTION, all);
  }

  private static WalkParameters walk(int width) {
    return new WalkParameters(width, WalkParameters.Distances.EXACT, PARENTS, 0);
  }
}
