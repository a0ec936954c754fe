package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.DoubleStream;

/**
 * Measures variants of a step of a walk, kernels of {@code native-kernels/bench/walk_step_*.cu},
 * beside the kernel that searches use, and compares their answers. Launches are repeated without
 * their calls, the variants in turns. Prints a table; nothing of it goes into the report.
 */
final class StepsStage implements Stage {

  // each has the changes of those before it, and one more; apart and vectors that of split
  private static final List<String> VARIANTS =
      List.of("pick", "keys", "joined", "narrow", "few", "early", "split", "apart", "vectors");
  private static final int[] BEAMS = {24, 64};
  private static final int[] PARENTS = {1, 4};
  private static final int[] BATCHES = {1_000, 10_000};
  private static final int[] WARPS = {1, 2};
  private static final int ROUNDS = 3;
  private static final int LAUNCHES = 5;

  private final String setName;

  StepsStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      QueryPool pool = QueryPool.of(set.vectors(), index.view(), BATCHES[BATCHES.length - 1]);
      AtomicReference<CapturingDriver> current = new AtomicReference<>();
      try (Gpu gpu =
          Gpu.open(() -> CapturingDriver.open(current), Placement.EXACT, Tuning.DEFAULT)) {
        context.fragment().set("device", gpu.device());
        context.fragment().set("driver", gpu.driver());
        gpu.executor().opened(index.view());
        gpu.await(List.of(index.view()));
        BatchRun run = new BatchRun(gpu.executor(), index.view(), pool.queries(), BenchStage.K);
        context.say("%s: microseconds of a launch", setName);
        context.say(
            "%5s %4s %7s %5s %12s %s",
            "items", "beam", "parents", "warps", "as usual", String.join(" ", VARIANTS));
        for (int batch : BATCHES) {
          for (int beam : BEAMS) {
            for (int parents : PARENTS) {
              measure(context, run, current.get(), beam, parents, batch);
            }
          }
        }
      }
    }
  }

  private static void measure(
      Context context, BatchRun run, CapturingDriver driver, int beam, int parents, int batch)
      throws IOException {
    WalkParameters walk = new WalkParameters(beam, WalkParameters.Distances.EXACT, parents, 0);
    run.call(walk, 0, batch);
    driver.capture();
    run.call(walk, 0, batch);
    List<CapturingDriver.Launch> launches = driver.captured();
    String usual = launches.get(launches.size() - 1).kernel().name();
    String prefix = usual.substring(0, usual.lastIndexOf("_w") + 2);
    try (RepeatedCall repeated = new RepeatedCall(driver, launches)) {
      for (int warps : WARPS) {
        double[][] times = new double[VARIANTS.size() + 1][ROUNDS * LAUNCHES];
        int[] differing = new int[times.length];
        List<RepeatedCall.Answer> expected = List.of();
        for (int round = 0; round < ROUNDS; round++) {
          for (int v = 0; v < times.length; v++) {
            CudaDriver.Kernel kernel =
                driver.kernel((v == 0 ? prefix : "step_" + VARIANTS.get(v - 1) + "_w") + warps);
            double[] found = repeated.time(kernel, warps, LAUNCHES);
            System.arraycopy(found, 0, times[v], round * LAUNCHES, LAUNCHES);
            List<RepeatedCall.Answer> answers = repeated.answers();
            expected = v == 0 ? answers : expected;
            differing[v] = differences(expected, answers);
          }
        }
        StringBuilder line = new StringBuilder();
        for (int v = 0; v < times.length; v++) {
          line.append(
              String.format(
                  Locale.ROOT,
                  " %.0f%s",
                  median(times[v]),
                  differing[v] == 0 ? "" : "(" + differing[v] + " answers differ)"));
        }
        context.say("%5d %4d %7d %5d%s", batch, beam, parents, warps, line);
      }
    }
  }

  private static int differences(
      List<RepeatedCall.Answer> expected, List<RepeatedCall.Answer> answers) {
    int count = 0;
    for (int i = 0; i < answers.size(); i++) {
      count += answers.get(i).equals(expected.get(i)) ? 0 : 1;
    }
    return count;
  }

  private static double median(double[] times) {
    double[] sorted = DoubleStream.of(times).sorted().toArray();
    return Arrays.stream(sorted).skip(sorted.length / 2).findFirst().orElseThrow();
  }
}
