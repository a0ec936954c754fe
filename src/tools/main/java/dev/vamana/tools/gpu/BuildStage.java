package dev.vamana.tools.gpu;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.cells.Median;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds the graph and the lists of a set on the GPU and on the CPU with all processors, each from
 * the file of vectors just written to the finished file, and compares searches of the graphs by the
 * CPU's walk. Beside them Lucene's HNSW, from vectors in arrays to the finished index.
 *
 * <p>{@code --methods=gpu,cpu,lucene} names what to build.
 */
final class BuildStage implements Stage {

  private static final int MOST_ROUNDS = 6;

  /** Rounds begin within so many times the time of a measurement. */
  private static final double LONGER = 100;

  private static final int BEAM = 40;

  private final String setName;

  BuildStage(String setName) {
    this.setName = setName;
  }

  /** Work for which the GPU is the executor that builds. */
  interface Work {
    /** Builds. */
    void run() throws IOException;
  }

  /**
   * Has the GPU build.
   *
   * @param required whether to fail if the GPU neither built a graph nor assigned vectors to lists;
   *     the CPU trains short lists in its place
   */
  static void onDevice(Context context, boolean required, Work work) throws IOException {
    try (Gpu gpu = Gpu.open(context.driver(), Placement.EXACT, Tuning.DEFAULT);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
      if (installation.executor() != gpu.executor()) {
        throw new IllegalStateException("another executor is installed");
      }
      work.run();
      var counters = gpu.executor().statistics().counters();
      context.say("graphs: %s, training: %s", counters.get("graphs"), counters.get("training"));
      long made =
          counters.get("graphs").get("graphs") + counters.get("training").get("vectors_assigned");
      if (required && made == 0) {
        throw new IllegalStateException("the CPU has built");
      }
    }
  }

  /** Returns the format that writes inverted lists. */
  static VamanaVectorsFormat lists(Context context) {
    return new VamanaVectorsFormat(listParameters(context.parameters()), context.workers());
  }

  /** Returns the parameters of inverted lists. */
  static VamanaParameters listParameters(VamanaParameters parameters) {
    return parameters.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.DEFAULT);
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    VamanaParameters graph = context.parameters();
    VamanaParameters lists = listParameters(graph);
    if (context.options().wants("gpu") && context.onDevice()) {
      onDevice(context, true, () -> build(context, set, "vamana-gpu", graph, MOST_ROUNDS));
      onDevice(context, false, () -> build(context, set, "vamana-ivf-gpu", lists, MOST_ROUNDS));
    }
    if (context.options().wants("cpu")) {
      build(context, set, "vamana", graph, 1);
      build(context, set, "vamana-ivf", lists, 1);
    }
    if (context.options().wants("lucene")) {
      LuceneStage.index(context, set).close();
    }
  }

  /**
   * Builds in some rounds. The first one loads kernels and pins buffers, and counts only where
   * there is no other.
   *
   * @param most rounds at most
   */
  private static void build(
      Context context, SuiteSet set, String method, VamanaParameters parameters, int most)
      throws IOException {
    List<Double> seconds = new ArrayList<>();
    long end = System.nanoTime() + (long) (LONGER * context.options().seconds() * 1e9);
    while (seconds.size() < most && (seconds.size() < 2 || System.nanoTime() < end)) {
      Path folder = SetIndex.emptied(context.index("trial"));
      try (SetIndex index =
          SetIndex.open(folder, into -> seconds.add(write(context, set, parameters, into)))) {
        if (seconds.size() == 1) {
          BatchRun run =
              new BatchRun(
                  new CpuExecutor(context.workers()),
                  index.view(),
                  set.vectors().queries().rows(),
                  BenchStage.K);
          context.say(
              "%s: width %d finds recall %.4f",
              method,
              BEAM,
              new Recall(set.vectors(), BenchStage.K).of(run.hits(WalkParameters.exact(BEAM))));
        }
      }
    }
    SetIndex.emptied(context.index("trial"));
    context.built(
        set.subject(),
        method,
        context.workers().threads(),
        Median.of(seconds.subList(Math.min(1, most - 1), seconds.size())));
  }

  /** Writes an index, and returns the seconds for its graph or its lists. */
  private static double write(
      Context context, SuiteSet set, VamanaParameters parameters, Path folder) throws IOException {
    BuildStatistics statistics = new BuildStatistics();
    SetIndex.write(
        folder,
        set,
        new VamanaVectorsFormat(parameters, context.workers(), CodebookProvider.NONE, statistics),
        1,
        1);
    return seconds(statistics);
  }

  /**
   * Returns the seconds for a graph or for lists.
   *
   * @throws IllegalStateException unless one of either was built
   */
  static double seconds(BuildStatistics statistics) {
    BuildStatistics.Snapshot made = statistics.snapshot();
    if (made.graphs() + made.lists() != 1) {
      throw new IllegalStateException("not one graph or once lists: " + made);
    }
    return (made.graphNanos() + made.listNanos()) * 1e-9;
  }
}
