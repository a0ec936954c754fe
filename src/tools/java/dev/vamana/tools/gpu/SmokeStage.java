package dev.vamana.tools.gpu;

import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Opens the device, which runs the self-test, and compares a few searches of each placement with
 * the CPU's. Takes seconds.
 */
final class SmokeStage implements Stage {

  /** Enough vectors for codes, which three placements need. */
  private static final int SIZE = 30_000;

  private static final int BEAM = 24;
  private static final String FAILED = "failed: ";

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    String missing = Gpu.missing();
    context.say("%s", missing == null ? "a device is there" : missing);
    SuiteSet set = ClusteredSet.NARROW.generate(SIZE);
    List<String> summary = new ArrayList<>();
    try (SetIndex index = BenchStage.index(context, set)) {
      for (Lane lane : Lane.chosen(context.options())) {
        summary.add(lane.name() + ": " + trial(context, set, index, lane));
      }
    }
    summary.forEach(line -> context.say("%s", line));
    if (summary.stream().anyMatch(line -> line.contains(FAILED))) {
      throw new IllegalStateException("not every placement works");
    }
  }

  private static String trial(Context context, SuiteSet set, SetIndex index, Lane lane)
      throws IOException, InterruptedException {
    WalkParameters walk =
        lane.quantized() ? WalkParameters.quantized(BEAM, BEAM) : WalkParameters.exact(BEAM);
    float[][] queries = set.vectors().queries().rows();
    BatchRun cpu =
        new BatchRun(new CpuExecutor(context.workers()), index.view(), queries, BenchStage.K);
    try (OpenLane open = lane.open(context, List.of(index.view()))) {
      BatchRun run = new BatchRun(open.executor(), index.view(), queries, BenchStage.K);
      List<WorkResult> expected = cpu.call(walk, 0, queries.length);
      List<WorkResult> found = run.call(walk, 0, queries.length);
      int equal = 0;
      int positions = 0;
      int[][] ordinals = new int[queries.length][];
      for (int i = 0; i < queries.length; i++) {
        ordinals[i] = found.get(i).ordinals();
        positions += ordinals[i].length;
        for (int j = 0; j < Math.min(ordinals[i].length, expected.get(i).ordinals().length); j++) {
          equal += ordinals[i][j] == expected.get(i).ordinals()[j] ? 1 : 0;
        }
      }
      double[] single = run.time(walk, 1, 1, 0.5, 300);
      double[] batch = run.time(walk, 1_000, 1, 0.5, 40);
      Arrays.sort(single);
      String result =
          String.format(
              java.util.Locale.ROOT,
              "%.4f of positions as on the CPU, recall %.4f, p50 %.1f us, %,.0f QPS at 1,000",
              equal / (double) positions,
              new Recall(set.vectors(), BenchStage.K).of(ordinals),
              Samples.median(single),
              Samples.qps(1_000, 1, batch));
      return open.gpu() == null ? result : result + ", " + open.gpu().counts();
    } catch (RuntimeException e) {
      // the other placements are tried regardless
      context.say("%s: %s", lane.name(), e);
      return FAILED + e;
    }
  }
}
