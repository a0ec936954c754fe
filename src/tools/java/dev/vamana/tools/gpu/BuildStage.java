package dev.vamana.tools.gpu;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Builds the graph of a set on the GPU and on the CPU with all processors, each from the file of
 * vectors just written to the finished file of the graph, and compares searches of both graphs by
 * the CPU's walk. Beside them Lucene's HNSW, from vectors in arrays to the finished index.
 *
 * <p>With {@code --placements=vamana-gpu,vamana} other methods are left out.
 */
final class BuildStage implements Stage {

  private static final String GPU = "vamana-gpu";
  private static final String CPU = "vamana";
  private static final String HNSW = "lucene-hnsw";
  private static final int[] HNSW_GRAPH = {16, 100};
  private static final int GPU_ROUNDS = 5;
  private static final int[] BEAMS = {10, 16, 24, 40, 64, 100, 160};
  private static final double[] TARGETS = {0.95, 0.99};

  private final String setName;
  private final Supplier<CudaDriver> drivers;
  private final VamanaParameters parameters;
  private final int rounds;

  BuildStage(String setName) {
    this(setName, Gpu::openDriver, VamanaParameters.DEFAULT, GPU_ROUNDS);
  }

  /**
   * Makes a stage with other devices and parameters.
   *
   * @param rounds builds on the GPU that are timed
   */
  BuildStage(
      String setName, Supplier<CudaDriver> drivers, VamanaParameters parameters, int rounds) {
    this.setName = setName;
    this.drivers = drivers;
    this.parameters = parameters;
    this.rounds = rounds;
  }

  /**
   * Recall and work of searches with a beam.
   *
   * @param recall recall@10
   * @param distances mean number of distances of a query
   */
  private record Point(int beam, double recall, double distances) {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    Map<String, List<Point>> curves = new TreeMap<>();
    if (wanted(context, GPU) && context.options().device() >= 0) {
      curves.put(GPU, onGpu(context, set));
    }
    if (wanted(context, CPU)) {
      Built built = build(context, set);
      curves.put(CPU, finish(context, set, CPU, built, Map.of()));
    }
    compare(context, curves);
    if (wanted(context, HNSW)) {
      hnsw(context, set);
    }
  }

  private static boolean wanted(Context context, String method) {
    List<String> chosen = context.options().placements();
    return chosen.isEmpty() || chosen.contains(method);
  }

  private List<Point> onGpu(Context context, SuiteSet set) throws IOException {
    List<TimingDriver> opened = new ArrayList<>();
    try (Gpu gpu =
            Gpu.open(
                () -> {
                  opened.add(new TimingDriver(drivers.get()));
                  return opened.get(opened.size() - 1);
                },
                Placement.EXACT,
                Tuning.DEFAULT);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
      if (installation.executor() != gpu.executor()) {
        throw new IllegalStateException("another executor is installed");
      }
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      // loads kernels and pins buffers
      build(context, set);
      double[] seconds = new double[rounds];
      Built last = null;
      Map<String, Long> before = gpu.graphs();
      for (int round = 0; round < rounds; round++) {
        last = build(context, set);
        seconds[round] = last.seconds();
      }
      Map<String, Long> after = gpu.graphs();
      if (after.get("graphs") != rounds + 1) {
        throw new IllegalStateException("the GPU built " + after.get("graphs") + " graphs");
      }
      Map<String, Object> more = new LinkedHashMap<>();
      more.put("all_seconds", rounded(seconds));
      Map<String, Object> phases = new TreeMap<>();
      for (String name : after.keySet()) {
        if (name.endsWith("_nanos")) {
          double mean = (after.get(name) - before.get(name)) * 1e-9 / rounds;
          phases.put(name.replace("_nanos", "_seconds"), Samples.round(mean, 4));
        }
      }
      more.put("phases", phases);
      context.say("GPU: seconds of all rounds %s, phases %s", more.get("all_seconds"), phases);
      opened.get(0).start();
      build(context, set);
      Map<String, Object> kernels = new TreeMap<>();
      opened.get(0).stop().forEach((name, ms) -> kernels.put(name, Samples.round(ms, 2)));
      more.put("kernel_ms", kernels);
      context.say("GPU: milliseconds of kernels, one after the other: %s", kernels);
      double median = Samples.median(seconds);
      return finish(context, set, GPU, new Built(last.folder(), median), more);
    }
  }

  private static List<Double> rounded(double[] seconds) {
    return Arrays.stream(seconds).mapToObj(s -> Samples.round(s, 3)).toList();
  }

  /**
   * An index whose graph has just been built.
   *
   * @param seconds from vectors in their file to the finished graph in its file
   */
  private record Built(Path folder, double seconds) {}

  /** Writes an index with the installed executor, if any. */
  private Built build(Context context, SuiteSet set) throws IOException {
    BuildStatistics statistics = new BuildStatistics();
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(parameters, context.workers(), CodebookProvider.NONE, statistics);
    Path folder = context.options().home().resolve("build-trial");
    SetIndex.deleteTree(folder);
    Files.createDirectories(folder);
    SetIndex.write(folder, set, format, 1, 1);
    BuildStatistics.Snapshot made = statistics.snapshot();
    if (made.graphs() != 1) {
      throw new IllegalStateException(made.graphs() + " graphs instead of one");
    }
    return new Built(folder, made.graphNanos() * 1e-9);
  }

  /** Searches the graph, records the row, and removes the index. */
  private List<Point> finish(
      Context context, SuiteSet set, String method, Built built, Map<String, Object> more)
      throws IOException {
    Files.writeString(built.folder().resolve("built.txt"), String.valueOf(built.seconds()));
    List<Point> curve = new ArrayList<>();
    Map<String, Object> row = row(context, set, method, built.seconds());
    try (SetIndex index = SetIndex.open(built.folder(), set, null, 1, 1)) {
      SegmentView view = index.view();
      row.put("max_degree", parameters.maxDegree());
      row.put("beam", parameters.beamWidth());
      row.put("mean_degree", Samples.round(view.meanDegree(), 3));
      BatchRun run =
          new BatchRun(
              new CpuExecutor(context.workers()),
              view,
              set.vectors().queries().rows(),
              BenchStage.K);
      Recall recall = new Recall(set.vectors(), BenchStage.K);
      for (int beam : BEAMS) {
        List<WorkResult> results = run.call(WalkParameters.exact(beam), 0, run.queries().length);
        double found = recall.of(results.stream().map(WorkResult::ordinals).toArray(int[][]::new));
        double distances = results.stream().mapToLong(WorkResult::visited).average().orElseThrow();
        curve.add(new Point(beam, Samples.round(found, 4), Samples.round(distances, 1)));
      }
    } finally {
      SetIndex.deleteTree(built.folder());
    }
    List<Map<String, Object>> points = new ArrayList<>();
    for (Point point : curve) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("beam", point.beam());
      one.put("recall_at_10", point.recall());
      one.put("distances", point.distances());
      points.add(one);
      context.say(
          "%s: beam %d, recall@10 %.4f, %.0f distances",
          method, point.beam(), point.recall(), point.distances());
    }
    row.put("curve", points);
    row.putAll(more);
    add(context, row);
    return curve;
  }

  private static void hnsw(Context context, SuiteSet set) throws IOException {
    try (SetIndex index = LuceneStage.index(context, set, "lucene-m16-b100", HNSW_GRAPH)) {
      add(context, row(context, set, HNSW, index.buildSeconds()));
    }
  }

  private static Map<String, Object> row(
      Context context, SuiteSet set, String method, double seconds) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("method", method);
    row.put("what", method.equals(HNSW) ? "index" : "graph");
    row.put("n", set.vectors().base().size());
    row.put("threads", context.workers().threads());
    row.put("seconds", Samples.round(seconds, 3));
    return row;
  }

  private static void add(Context context, Map<String, Object> row) throws IOException {
    context.fragment().add("builds", row);
    context.say(
        "%-12s %9.3f s, %,.0f vectors/s",
        row.get("method"),
        row.get("seconds"),
        ((Integer) row.get("n")) / ((Number) row.get("seconds")).doubleValue());
  }

  /** Says how much more work searches of the GPU's graph need than those of the CPU's. */
  private static void compare(Context context, Map<String, List<Point>> curves) {
    if (curves.size() < 2) {
      return;
    }
    for (double target : TARGETS) {
      double gpu = distancesAt(curves.get(GPU), target);
      double cpu = distancesAt(curves.get(CPU), target);
      context.say(
          "distances at recall %.2f: GPU's graph %.0f, CPU's %.0f, %+.1f %%",
          target, gpu, cpu, 100 * (gpu / cpu - 1));
    }
  }

  /** Distances at a recall, between the points of a curve; NaN if it does not reach the recall. */
  private static double distancesAt(List<Point> curve, double target) {
    for (int i = 1; i < curve.size(); i++) {
      Point low = curve.get(i - 1);
      Point high = curve.get(i);
      if (high.recall() >= target && low.recall() < target) {
        double share = (target - low.recall()) / (high.recall() - low.recall());
        return low.distances() + share * (high.distances() - low.distances());
      }
    }
    return curve.get(0).recall() >= target ? curve.get(0).distances() : Double.NaN;
  }
}
