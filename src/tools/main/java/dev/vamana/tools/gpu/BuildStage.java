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
import java.nio.file.Files;
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

  private static final int MOST_ROUNDS = 5;

  /** Rounds begin within so many times the time of a measurement. */
  private static final double LONGER = 100;

  private static final int BEAM = 40;

  private final String setName;

  BuildStage(String setName) {
    this.setName = setName;
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
      try (Gpu gpu = Gpu.open(context.driver(), Placement.EXACT, Tuning.DEFAULT);
          ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
        if (installation.executor() != gpu.executor()) {
          throw new IllegalStateException("another executor is installed");
        }
        build(context, set, "vamana-gpu", graph, MOST_ROUNDS);
        if (gpu.executor().statistics().counters().get("graphs").get("graphs") < 2) {
          throw new IllegalStateException("the GPU built no graphs");
        }
        build(context, set, "vamana-ivf-gpu", lists, MOST_ROUNDS);
      }
    }
    if (context.options().wants("cpu")) {
      build(context, set, "vamana", graph, 0);
      build(context, set, "vamana-ivf", lists, 0);
    }
    if (context.options().wants("lucene")) {
      LuceneStage.index(context, set).close();
    }
  }

  /**
   * Builds once, which loads kernels and pins buffers, and then some rounds.
   *
   * @param most rounds at most; 0 to time the first build
   */
  private static void build(
      Context context, SuiteSet set, String method, VamanaParameters parameters, int most)
      throws IOException {
    Path folder = context.options().home().resolve("build-trial");
    List<Double> seconds = new ArrayList<>(List.of(build(context, set, parameters, folder)));
    long end = System.nanoTime() + (long) (LONGER * context.options().seconds() * 1e9);
    for (int round = 0; round < most && (round == 0 || System.nanoTime() < end); round++) {
      if (round == 0) {
        seconds.clear();
      }
      seconds.add(build(context, set, parameters, folder));
    }
    context.built(set.subject(), method, context.workers().threads(), Median.of(seconds));
    Files.writeString(folder.resolve("built.txt"), String.valueOf(seconds.get(0)));
    try (SetIndex index = SetIndex.open(folder, set, null, 1, 1)) {
      BatchRun run =
          new BatchRun(
              new CpuExecutor(context.workers()),
              index.view(),
              set.vectors().queries().rows(),
              BenchStage.K);
      int[][] hits = run.hits(WalkParameters.exact(BEAM));
      context.say(
          "%s: width %d finds recall %.4f",
          method, BEAM, new Recall(set.vectors(), BenchStage.K).of(hits));
    }
    SetIndex.deleteTree(folder);
  }

  /** Writes an index, and returns the seconds for its graph or its lists. */
  private static double build(
      Context context, SuiteSet set, VamanaParameters parameters, Path folder) throws IOException {
    BuildStatistics statistics = new BuildStatistics();
    SetIndex.deleteTree(folder);
    Files.createDirectories(folder);
    SetIndex.write(
        folder,
        set,
        new VamanaVectorsFormat(parameters, context.workers(), CodebookProvider.NONE, statistics),
        1,
        1);
    BuildStatistics.Snapshot made = statistics.snapshot();
    if (made.graphs() + made.lists() != 1) {
      throw new IllegalStateException("not one graph or once lists: " + made);
    }
    return (made.graphNanos() + made.listNanos()) * 1e-9;
  }
}
