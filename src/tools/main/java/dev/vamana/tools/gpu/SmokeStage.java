package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.cells.Median;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.List;

/**
 * Opens the device, which runs the self-test, and compares a few searches of each placement with
 * the CPU's. Takes seconds.
 */
final class SmokeStage implements Stage {

  /** Enough vectors for codes, which three placements need. */
  private static final int SIZE = 30_000;

  private static final int BEAM = 24;

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    String missing = Gpu.missing();
    context.say("%s", missing == null ? "a device is there" : missing);
    SuiteSet set = ClusteredSet.NARROW.generate(SIZE);
    int failed = 0;
    try (SetIndex index = BenchStage.index(context, set)) {
      for (Placement placement : Lane.placements(context.options(), List.of(Placement.values()))) {
        try (Lane lane = Lane.open(context, "vamana-gpu", placement, List.of(index.view()))) {
          trial(context, set, index, lane);
        } catch (RuntimeException e) {
          // the other placements are tried regardless
          context.say("%s: failed: %s", placement, e);
          failed++;
        }
      }
    }
    if (failed > 0) {
      throw new IllegalStateException(failed + " placements do not work");
    }
  }

  private static void trial(Context context, SuiteSet set, SetIndex index, Lane lane)
      throws IOException, InterruptedException {
    float[][] queries = set.vectors().queries().rows();
    WalkParameters walk = lane.walk(BEAM);
    BatchRun run = new BatchRun(lane.executor(), index.view(), queries, BenchStage.K);
    int[][] found = run.hits(walk);
    int[][] expected =
        new BatchRun(new CpuExecutor(context.workers()), index.view(), queries, BenchStage.K)
            .hits(walk);
    int equal = 0;
    int positions = 0;
    for (int q = 0; q < queries.length; q++) {
      positions += found[q].length;
      for (int i = 0; i < Math.min(found[q].length, expected[q].length); i++) {
        equal += found[q][i] == expected[q][i] ? 1 : 0;
      }
    }
    context.say(
        "%s: %.4f of positions as on the CPU, recall %.4f, p50 %.1f us, %,.0f queries/s at 1,000",
        lane.name(),
        equal / (double) positions,
        new Recall(set.vectors(), BenchStage.K).of(found),
        Median.of(run.time(walk, 1, 1, 0.5)),
        BatchRun.qps(1_000, 1, run.time(walk, 1_000, 1, 0.5)));
    if (lane.gpu() != null) {
      context.say("%s", lane.gpu().counts());
    }
  }
}
