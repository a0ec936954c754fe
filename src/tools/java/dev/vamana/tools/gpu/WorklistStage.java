package dev.vamana.tools.gpu;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.hostfetch.FetchOptions;
import dev.vamana.cuda.kernel.FetchStep;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * What BANG's figures 6 and 10 show, for our walks: steps of a walk by the length of the worklist,
 * and the share of each kernel in the time of host fetch. And whether host fetch gains from
 * choosing the next nodes early, with one and with four nodes a step.
 */
final class WorklistStage implements Stage {

  private static final int K = BenchStage.K;
  private static final int[] LENGTHS = {20, 40, 60, 80, 100, 120, 140, 160, 180};
  private static final int BATCH = 10_000;
  private static final int[] PARENTS = {1, 4};
  private static final int[] BEAMS = {32, 48};
  private static final int ROUNDS = 5;
  private static final double WARM_SECONDS = 0.5;
  private static final long HOST_FETCH_MEMORY = 64L << 30;

  private final String setName;
  private final Supplier<CudaDriver> drivers;
  private final int batch;
  private final int rounds;

  WorklistStage(String setName) {
    this(setName, Gpu::openDriver, BATCH, ROUNDS);
  }

  /**
   * Makes a stage with other devices.
   *
   * @param batch queries of a call
   * @param rounds turns of the two executors that are compared
   */
  WorklistStage(String setName, Supplier<CudaDriver> drivers, int batch, int rounds) {
    this.setName = setName;
    this.drivers = drivers;
    this.batch = batch;
    this.rounds = rounds;
  }

  private Gpu open(Placement placement, FetchOptions fetch) {
    return OpenGpu.open(drivers, placement, BatchOptions.DEFAULT, fetch, Gpu.WALKS);
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      iterations(context, set, index);
      shares(context, set, index);
      prefetch(context, set, index);
    }
  }

  private static BatchRun run(Gpu gpu, SuiteSet set, SetIndex index) throws InterruptedException {
    gpu.executor().opened(index.view());
    gpu.await(List.of(index.view()));
    return new BatchRun(gpu.executor(), index.view(), set.vectors().queries().rows(), K);
  }

  private static WalkParameters walk(int length, int parents) {
    return new WalkParameters(length, WalkParameters.quantized(length, 0).distances(), parents, 0);
  }

  private void iterations(Context context, SuiteSet set, SetIndex index)
      throws IOException, InterruptedException {
    try (Gpu gpu = open(Placement.IN_MEMORY, null)) {
      BatchRun run = run(gpu, set, index);
      for (int length : LENGTHS) {
        AblationStage.steps(context, set, gpu, run, Placement.IN_MEMORY, walk(length, 1));
      }
    }
  }

  private static FetchOptions options(boolean prefetch) {
    return FetchOptions.defaults(Runtime.getRuntime().availableProcessors(), HOST_FETCH_MEMORY)
        .withStep(FetchStep.FUSED, prefetch, true);
  }

  /** Times each kernel of a batch, with one kernel for each of BANG's. */
  private void shares(Context context, SuiteSet set, SetIndex index)
      throws IOException, InterruptedException {
    List<TimingDriver> opened = new ArrayList<>();
    for (FetchStep step : FetchStep.values()) {
      opened.clear();
      try (Gpu gpu =
          OpenGpu.open(
              () -> {
                opened.add(new TimingDriver(drivers.get()));
                return opened.get(opened.size() - 1);
              },
              Placement.HOST_FETCH,
              BatchOptions.DEFAULT,
              options(true).withStep(step, true, true),
              Gpu.WALKS)) {
        BatchRun run = run(gpu, set, index);
        for (int beam : BEAMS) {
          WalkParameters walk = walk(beam, 1);
          run.time(walk, batch, 1, Math.min(WARM_SECONDS, context.options().seconds()), 1);
          opened.get(0).start();
          run.call(walk, 0, batch);
          Map<String, Double> millis = opened.get(0).stop();
          double all = millis.values().stream().mapToDouble(Double::doubleValue).sum();
          Map<String, Object> shares = new LinkedHashMap<>();
          millis.forEach((name, ms) -> shares.put(name, Samples.round(ms / all, 4)));
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("set", set.vectors().name());
          row.put("placement", Placement.HOST_FETCH.settingName());
          row.put("variant", "kernels " + step);
          row.put("batch", batch);
          row.put("beam", beam);
          row.put("kernel_ms", Samples.round(all, 2));
          row.put("shares", shares);
          context.fragment().add(ProfileStage.SECTION, row);
          context.say("%s", row);
        }
      } catch (RuntimeException e) {
        context.say("kernels %s: %s", step, e);
      }
    }
  }

  /** Two executors take turns, so that both meet the same machine. */
  private void prefetch(Context context, SuiteSet set, SetIndex index)
      throws IOException, InterruptedException {
    Recall recall = new Recall(set.vectors(), K);
    try (Gpu early = open(Placement.HOST_FETCH, options(true));
        Gpu late = open(Placement.HOST_FETCH, options(false))) {
      BatchRun[] runs = {run(early, set, index), run(late, set, index)};
      String[] names = {"prefetch", "no prefetch"};
      for (int parents : PARENTS) {
        for (int beam : BEAMS) {
          WalkParameters walk = walk(beam, parents);
          double[][] samples = new double[runs.length][];
          double[][] single = new double[runs.length][];
          for (int round = -1; round < rounds; round++) {
            for (int i = 0; i < runs.length; i++) {
              double[] all = runs[i].time(walk, batch, 1, context.options().seconds() / 2, 10);
              double[] one = runs[i].time(walk, 1, 1, context.options().seconds() / 4, 50);
              if (round >= 0) {
                samples[i] = joined(samples[i], all);
                single[i] = joined(single[i], one);
              }
            }
          }
          for (int i = 0; i < runs.length; i++) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("set", set.vectors().name());
            row.put("placement", Placement.HOST_FETCH.settingName());
            row.put("variant", names[i] + ", in turns, " + parents + " parents a step");
            row.put("beam", beam);
            row.put("batch", batch);
            row.put("recall_at_10", Samples.round(recall.of(runs[i].hits(walk)), 5));
            row.put("qps", Samples.round(Samples.qps(batch, 1, samples[i]), 0));
            row.put("p50_us_of_one", Samples.round(Samples.median(single[i]), 1));
            context.fragment().add("ablations", row);
            context.say("%s", row);
          }
        }
      }
    }
  }

  private static double[] joined(double[] first, double[] second) {
    if (first == null) {
      return second;
    }
    double[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
  }
}
