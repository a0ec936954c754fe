package dev.vamana.tools.gpu;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.util.InfoStream;

/**
 * Measures recall and queries per second of inverted lists at every batch size, on one set, and
 * beside them the walk of the graph over exact distances, in the same process. Candidates of a
 * search of lists are the beam of a row. With {@code --codes=rabitq1,pq} lists of several kinds of
 * codes are measured one after the other, with {@code --teams=1,8} numbers of blocks that search
 * the lists of one item.
 *
 * <p>Rows of the method {@value #METHOD} are of the kernels that search lists. Rows whose method
 * ends in {@value ChosenPlans#SUFFIX} are of the plans that a node chooses, with the plan.
 */
final class ListsStage implements Stage {

  /** Section of the rows of the graph, which {@code bench-<set>} has among the benchmarks. */
  static final String GRAPH_SECTION = "graph_beside_lists";

  static final String METHOD = "vamana-ivf";

  private static final String GRAPH = "vamana-gpu";
  private static final String CPU = "cpu";
  static final int[] CALLERS = {1, 3};
  private static final int PARENTS = 4;
  static final int SAMPLES = 25;
  static final int SINGLE_SAMPLES = 100;
  private static final double FIRST_WARM_UP_SECONDS = 4;
  // in multiples of a measurement
  private static final double WARM_UP_SHARE = 20;

  private final String setName;

  ListsStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    List<String> methods = context.options().methods();
    boolean graph =
        ListSteps.wanted(context.options()) == false
            && (methods.isEmpty() || methods.contains(GRAPH));
    int largest = context.options().batches().stream().mapToInt(Integer::intValue).max().orElse(1);
    List<CodeKind> codes = context.options().codes();
    QueryPool pool = null;
    for (CodeKind kind : codes.isEmpty() ? List.of(CodeKind.DEFAULT) : codes) {
      try (SetIndex index = index(context, set, kind)) {
        // the same queries for all
        pool = pool != null ? pool : QueryPool.of(set.vectors(), index.view(), largest);
        if (methods.isEmpty() || methods.contains(METHOD)) {
          for (Lane lane : lanes(context.options(), kind)) {
            for (Tuning tuning : tunings(context.options(), lane)) {
              measure(context, set, index, pool, lane, true, tuning);
            }
          }
        }
        if ((methods.isEmpty() || methods.contains(METHOD + ChosenPlans.SUFFIX))
            && onCpu(context.options()) == false
            && takes(context.options(), Placement.EXACT)) {
          new ChosenPlans(context, Gpu::openDriver, method(kind)).measure(set, index, pool);
        }
      }
    }
    if (graph) {
      try (SetIndex index = BenchStage.index(context, set)) {
        measure(context, set, index, pool, graphLane(context.options()), false, Tuning.DEFAULT);
      }
    }
  }

  /** Returns the method of rows: the default kind of codes has no name. */
  private static String method(CodeKind codes) {
    return codes == CodeKind.DEFAULT ? METHOD : METHOD + "-" + codes.settingName();
  }

  private static boolean onCpu(SuiteOptions options) {
    return options.device() < 0 || options.placements().equals(List.of(CPU));
  }

  /** Returns the tunings of a lane: of each of both options every value. */
  private static List<Tuning> tunings(SuiteOptions options, Lane lane) {
    if (lane.placement() == null) {
      return List.of(Tuning.DEFAULT);
    }
    List<Tuning> tunings = new ArrayList<>();
    for (int team : options.teams()) {
      for (int sharing : options.sharing()) {
        tunings.add(Tuning.DEFAULT.withTeam(team).withListSharing(sharing));
      }
    }
    return tunings;
  }

  private static Lane graphLane(SuiteOptions options) {
    return onCpu(options) ? Lane.cpu(false) : Lane.gpu(Placement.EXACT);
  }

  /** Returns the lanes of lists: vectors on the device, and in the mapped file. */
  private static List<Lane> lanes(SuiteOptions options, CodeKind codes) {
    List<Lane> lanes = new ArrayList<>();
    if (onCpu(options)) {
      lanes.add(new Lane(method(codes), CPU, null, false));
      return lanes;
    }
    for (Placement placement : List.of(Placement.EXACT, Placement.IN_MEMORY)) {
      if (takes(options, placement)) {
        lanes.add(new Lane(method(codes), placement.settingName(), placement, false));
      }
    }
    return lanes;
  }

  private static boolean takes(SuiteOptions options, Placement placement) {
    return options.placements().isEmpty() || options.placements().contains(placement.settingName());
  }

  private static SetIndex index(Context context, SuiteSet set, CodeKind codes) throws IOException {
    int n = set.vectors().base().size();
    context.say("lists of %s, %,d vectors, %s", set.vectors().name(), n, codes.settingName());
    Path folder =
        context
            .options()
            .home()
            .resolve("index")
            .resolve(set.vectors().name() + "-" + n + "-" + method(codes));
    Build build = new Build(context, set, codes);
    SetIndex index = build.open(folder);
    context.say("lists ready, built in %.1f s", index.buildSeconds());
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("method", method(codes));
    row.put("n", n);
    row.put("codes", codes.settingName());
    row.put("lists", index.view().lists().shape().lists());
    row.put("list_bytes", index.view().lists().region().length());
    row.put("threads", context.workers().threads());
    row.put("seconds", Samples.round(index.buildSeconds(), 2));
    putSeconds(row, "seconds_of_lists", build.seconds());
    if (onCpu(context.options()) == false) {
      buildWithGpu(context, set, codes, folder, row);
    }
    context.fragment().add("builds", row);
    return index;
  }

  /** Builds lists, the first of which train centroids that the others find again. */
  private static final class Build {
    private final Context context;
    private final SuiteSet set;
    private final BuildStatistics statistics = new BuildStatistics();
    private final VamanaVectorsFormat format;
    private double before;

    Build(Context context, SuiteSet set, CodeKind codes) {
      this.context = context;
      this.set = set;
      this.format =
          new VamanaVectorsFormat(
              VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, codes),
              context.workers(),
              CodebookProvider.NONE,
              statistics);
    }

    /** Opens the lists of a folder, built unless they are there. */
    SetIndex open(Path folder) throws IOException {
      before = all();
      return SetIndex.open(folder, set, format, 1, 1, messages(context));
    }

    /** Returns the seconds of the last lists and codes, without documents and raw vectors. */
    double seconds() {
      return all() - before;
    }

    private double all() {
      return statistics.snapshot().listNanos() * 1e-9;
    }
  }

  /** Leaves out what an earlier process built. */
  private static void putSeconds(Map<String, Object> row, String name, double seconds) {
    if (seconds > 0) {
      row.put(name, Samples.round(seconds, 3));
    }
  }

  /** Says how long the parts of a build took. */
  private static InfoStream messages(Context context) {
    return new InfoStream() {
      @Override
      public void message(String component, String message) {
        context.say("%s", message);
      }

      @Override
      public boolean isEnabled(String component) {
        return component.equals(VamanaVectorsFormat.INFO_COMPONENT);
      }

      @Override
      public void close() {
        // prints only
      }
    };
  }

  /**
   * Builds the lists three times while an executor is installed, unless an earlier process has:
   * with centroids that the GPU trains, with the same centroids, and with centroids that are
   * trained anew, when kernels are loaded and code is compiled.
   */
  private static void buildWithGpu(
      Context context, SuiteSet set, CodeKind codes, Path folder, Map<String, Object> row)
      throws IOException {
    try (Gpu gpu = Gpu.open(Gpu::openDriver, Placement.EXACT, Tuning.DEFAULT);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
      if (installation.executor() != gpu.executor()
          || !(installation.executor() instanceof GpuExecutor executor)) {
        throw new IllegalStateException("another executor is installed");
      }
      Build first = new Build(context, set, codes);
      row.put("seconds_with_gpu", Samples.round(buildWithGpu(first, executor, folder, "gpu"), 2));
      putSeconds(row, "seconds_of_lists_with_gpu", first.seconds());
      buildWithGpu(first, executor, folder, "gpu-shared");
      putSeconds(row, "seconds_of_lists_shared", first.seconds());
      Build warm = new Build(context, set, codes);
      buildWithGpu(warm, executor, folder, "gpu-warm");
      putSeconds(row, "seconds_of_lists_warm", warm.seconds());
    }
  }

  /** Builds the lists in a folder beside another, and returns the seconds. */
  private static double buildWithGpu(Build build, GpuExecutor executor, Path folder, String name)
      throws IOException {
    Path own = folder.resolveSibling(folder.getFileName() + "-" + name);
    boolean earlier = SetIndex.isBuilt(own);
    long before = assigned(executor);
    try (SetIndex index = build.open(own)) {
      if (earlier == false && assigned(executor) == before) {
        // a later process would find this index and report its seconds as a build with the GPU
        SetIndex.deleteTree(own);
        throw new IllegalStateException("the GPU assigned no vectors");
      }
      return index.buildSeconds();
    }
  }

  private static long assigned(GpuExecutor executor) {
    return executor.statistics().counters().get("training").get("vectors_assigned");
  }

  private static void measure(
      Context context,
      SuiteSet set,
      SetIndex index,
      QueryPool pool,
      Lane lane,
      boolean lists,
      Tuning tuning)
      throws IOException, InterruptedException {
    BatchOptions options = BatchOptions.DEFAULT.withTuning(tuning);
    try (OpenLane open = lane.open(context, options, List.of(index.view()))) {
      BatchRun run =
          new BatchRun(open.executor(), index.view(), set.vectors().queries().rows(), BenchStage.K);
      BatchRun pooled = new BatchRun(open.executor(), index.view(), pool.queries(), BenchStage.K);
      double seconds = context.options().seconds();
      run.time(walk(32), 1_000, 1, Math.min(FIRST_WARM_UP_SECONDS, WARM_UP_SHARE * seconds), 1);
      open.check();
      BeamSweep sweep = BeamSweep.run(run, set.vectors(), ListsStage::walk);
      Set<Integer> widths = sweep.beams();
      if (ListSteps.wanted(context.options())) {
        steps(context, set, open, pooled, sweep, lane, tuning);
        return;
      }
      for (int batch : context.options().batches()) {
        for (int width : widths) {
          Map<String, Object> work =
              lists ? work(open, run, width, tuning.team()) : Map.of("parents", PARENTS);
          for (int callers : CALLERS) {
            // the JVM has compiled the code for the batches before, and takes it back at the first
            // larger
            pooled.time(walk(width), batch, callers, seconds, 1);
            Measurement measured =
                new Measurement(
                    set.subject(),
                    lane.method() + together(tuning.listSharing()),
                    lane.name(),
                    batch,
                    callers,
                    width,
                    sweep.recalls().get(width),
                    pooled.time(
                        walk(width),
                        batch,
                        callers,
                        seconds,
                        batch == 1 ? SINGLE_SAMPLES : SAMPLES),
                    work);
            if (lists) {
              context.add(measured);
            } else {
              context.fragment().add(GRAPH_SECTION, measured.toMap());
              context.say("%s", measured);
            }
          }
        }
      }
      open.check();
    }
  }

  /** Times the kernels of the narrowest search, in the largest batches. */
  private static void steps(
      Context context,
      SuiteSet set,
      OpenLane open,
      BatchRun run,
      BeamSweep sweep,
      Lane lane,
      Tuning tuning)
      throws IOException, InterruptedException {
    int width = sweep.beams().iterator().next();
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("method", lane.method() + together(tuning.listSharing()));
    row.put("placement", lane.name());
    row.put("beam", width);
    row.put("recall_at_10", Samples.round(sweep.recalls().get(width), 5));
    int batch =
        context.options().batches().stream().mapToInt(Integer::intValue).max().orElseThrow();
    ListSteps.measure(
        context, open.gpu(), run, walk(width), row, batch, CALLERS[CALLERS.length - 1]);
  }

  /** Returns what the method of rows is called in addition if it was told how to share lists. */
  static String together(int sharing) {
    return sharing == Tuning.CHOOSE_SHARING ? "" : sharing == 0 ? "-one-by-one" : "-together";
  }

  static WalkParameters walk(int width) {
    return new WalkParameters(width, WalkParameters.Distances.EXACT, PARENTS, 0);
  }

  /** Returns the lists searched and vectors scored for one of the set's own queries. */
  private static Map<String, Object> work(OpenLane open, BatchRun run, int width, int team)
      throws IOException {
    if (open.gpu() == null) {
      return Map.of();
    }
    Gpu.Counts before = open.gpu().counts();
    run.hits(walk(width));
    Gpu.Counts counts = open.gpu().counts().since(before);
    Map<String, Object> work = new LinkedHashMap<>();
    work.put("lists_searched", Samples.round(counts.steps() / (double) counts.answered(), 1));
    work.put("scored", Samples.round(counts.distances() / (double) counts.answered(), 1));
    if (team > 0) {
      work.put("team", team);
    }
    return work;
  }
}
