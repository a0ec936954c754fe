package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.hostfetch.FetchOptions;
import dev.vamana.cuda.kernel.FetchStep;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures what each of the paper's ideas contributes: changes one option at a time, at one beam
 * and at batches of 10,000 and of 1. Also records how many steps walks take (BANG reports that 95 %
 * end within 1.1 times the beam).
 */
final class AblationStage implements Stage {

  private static final int K = BenchStage.K;
  private static final int BEAM = 48;
  private static final int BATCH = 10_000;
  private static final String USUAL = "as usual";
  private static final double WARM_SECONDS = 0.3;
  // for a placement's first variant, whose run compiles the code that later variants reuse
  private static final double FIRST_WARM_SECONDS = 4;
  // so large that the default share of it is the most that host fetch uses
  private static final long HOST_FETCH_MEMORY = 64L << 30;

  private final String setName;

  AblationStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    WalkParameters exact = WalkParameters.exact(BEAM);
    WalkParameters quantized = WalkParameters.quantized(BEAM, 0);
    Tuning usual = Tuning.DEFAULT;
    try (SetIndex index = BenchStage.index(context, set)) {
      for (Placement placement : List.of(Placement.EXACT, Placement.IN_MEMORY)) {
        WalkParameters walk = placement == Placement.EXACT ? exact : quantized;
        row(context, set, index, placement, USUAL, usual, walk);
        row(context, set, index, placement, "no eager pick", usual.withEagerPick(false), walk);
        row(
            context,
            set,
            index,
            placement,
            "no visited filter",
            usual.withVisitedFilter(false),
            walk);
        for (int parents : new int[] {2, 4, 8}) {
          row(
              context,
              set,
              index,
              placement,
              parents + " parents a step",
              usual,
              new WalkParameters(BEAM, walk.distances(), parents, 0));
        }
        for (int warps : Tuning.WARPS) {
          row(
              context,
              set,
              index,
              placement,
              warps + " warps a query",
              usual.withWarps(warps),
              walk);
        }
        steps(context, set, index, placement, walk);
      }
      for (Policy table : List.of(Policy.TABLE_HALF, Policy.TABLE_FLOAT)) {
        row(
            context,
            set,
            index,
            Placement.IN_MEMORY,
            "table " + table,
            usual.withTable(table),
            quantized);
      }
      for (int depth : new int[] {10, 20, 32, 48, WalkParameters.RERANK_EXPANDED}) {
        row(
            context,
            set,
            index,
            Placement.IN_MEMORY,
            depth < 0 ? "re-rank all expanded" : "re-rank " + depth,
            usual,
            WalkParameters.quantized(BEAM, depth));
      }
      hostFetch(context, set, index);
    }
    for (int subspaces : new int[] {8, 16, 32, 64, 128}) {
      if (subspaces <= set.vectors().dimension()) {
        subspaces(context, set, subspaces);
      }
    }
  }

  private static void subspaces(Context context, SuiteSet set, int subspaces)
      throws IOException, InterruptedException {
    int n = set.vectors().base().size();
    try (SetIndex index =
        SetIndex.open(
            context
                .options()
                .home()
                .resolve("index")
                .resolve(set.vectors().name() + "-" + n + "-vamana-m" + subspaces),
            set,
            new VamanaVectorsFormat(
                VamanaParameters.DEFAULT.withSubspaces(subspaces), context.workers()),
            1,
            1)) {
      row(
          context,
          set,
          index,
          Placement.IN_MEMORY,
          subspaces + " subspaces",
          Tuning.DEFAULT,
          WalkParameters.quantized(BEAM, 0));
      row(
          context,
          set,
          index,
          Placement.IN_MEMORY,
          subspaces + " subspaces, re-rank the beam",
          Tuning.DEFAULT,
          WalkParameters.quantized(BEAM, BEAM));
    }
  }

  private static void row(
      Context context,
      SuiteSet set,
      SetIndex index,
      Placement placement,
      String variant,
      Tuning tuning,
      WalkParameters walk)
      throws IOException, InterruptedException {
    try (Gpu gpu = Gpu.open(placement, tuning)) {
      row(context, set, index, placement, variant, gpu, walk);
    } catch (RuntimeException e) {
      context.say("%s, %s: %s", placement, variant, e);
    }
  }

  /** Runs the paper's own ablations, on the paper's placement. */
  private static void hostFetch(Context context, SuiteSet set, SetIndex index)
      throws IOException, InterruptedException {
    WalkParameters walk = WalkParameters.quantized(BEAM, 0);
    FetchOptions usual =
        FetchOptions.defaults(Runtime.getRuntime().availableProcessors(), HOST_FETCH_MEMORY);
    Map<String, FetchOptions> variants = new LinkedHashMap<>();
    variants.put(USUAL, usual);
    variants.put("no prefetch", usual.withStep(FetchStep.FUSED, false, true));
    variants.put("no visited filter", usual.withStep(FetchStep.FUSED, true, false));
    variants.put("one half", usual.withBatches(usual.threads(), usual.maxBatch(), 1));
    variants.put("one thread", usual.withBatches(1, usual.maxBatch(), 2));
    for (FetchStep step : FetchStep.values()) {
      variants.put("kernels " + step, usual.withStep(step, true, true));
    }
    for (Map.Entry<String, FetchOptions> variant : variants.entrySet()) {
      hostFetch(context, set, index, variant.getKey(), variant.getValue(), walk);
    }
    WalkParameters expanded = WalkParameters.quantized(BEAM, WalkParameters.RERANK_EXPANDED);
    hostFetch(context, set, index, "re-rank all expanded", usual, expanded);
    hostFetch(
        context,
        set,
        index,
        "re-rank all expanded, vectors at the end",
        usual.withBytes(usual.stateBytes(), 0),
        expanded);
  }

  private static void hostFetch(
      Context context,
      SuiteSet set,
      SetIndex index,
      String variant,
      FetchOptions options,
      WalkParameters walk)
      throws IOException, InterruptedException {
    try (Gpu gpu = Gpu.open(Placement.HOST_FETCH, options)) {
      row(context, set, index, Placement.HOST_FETCH, variant, gpu, walk);
    } catch (RuntimeException e) {
      context.say("%s, %s: %s", Placement.HOST_FETCH, variant, e);
    }
  }

  private static void row(
      Context context,
      SuiteSet set,
      SetIndex index,
      Placement placement,
      String variant,
      Gpu gpu,
      WalkParameters walk)
      throws IOException, InterruptedException {
    gpu.executor().opened(index.view());
    gpu.await(List.of(index.view()));
    BatchRun run = new BatchRun(gpu.executor(), index.view(), set.vectors().queries().rows(), K);
    double warm = variant.equals(USUAL) ? FIRST_WARM_SECONDS : WARM_SECONDS;
    run.time(walk, BATCH, 1, warm, 1);
    Gpu.Counts before = gpu.counts();
    double[] batch = run.time(walk, BATCH, 1, context.options().seconds(), 40);
    Gpu.Counts counts = gpu.counts().since(before);
    double recall = new Recall(set.vectors(), K).of(run.hits(walk));
    double[] single = run.time(walk, 1, 1, context.options().seconds(), 300);
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("placement", placement.settingName());
    row.put("variant", variant);
    row.put("beam", walk.beamWidth());
    row.put("batch", BATCH);
    row.put("recall_at_10", Samples.round(recall, 5));
    row.put("qps", Samples.round(Samples.qps(BATCH, 1, batch), 0));
    row.put("p50_us_of_one", Samples.round(Samples.median(single), 1));
    row.put("distances", each(counts.distances(), counts));
    row.put("steps", each(counts.steps(), counts));
    context.fragment().add("ablations", row);
    context.say("%s", row);
  }

  private static double each(long sum, Gpu.Counts counts) {
    return Samples.round(sum / (double) Math.max(1, counts.answered()), 2);
  }

  /** Records the steps of every single query, from the counters. */
  private static void steps(
      Context context, SuiteSet set, SetIndex index, Placement placement, WalkParameters walk)
      throws IOException, InterruptedException {
    try (Gpu gpu = Gpu.open(placement)) {
      gpu.executor().opened(index.view());
      gpu.await(List.of(index.view()));
      BatchRun run = new BatchRun(gpu.executor(), index.view(), set.vectors().queries().rows(), K);
      steps(context, set, gpu, run, placement, walk);
    }
  }

  /** As above, with a segment that is on the device. */
  static void steps(
      Context context,
      SuiteSet set,
      Gpu gpu,
      BatchRun run,
      Placement placement,
      WalkParameters walk)
      throws IOException {
    double[] steps = new double[set.vectors().queries().size()];
    long before = gpu.counts().steps();
    for (int q = 0; q < steps.length; q++) {
      run.call(walk, q, 1);
      long now = gpu.counts().steps();
      steps[q] = now - before;
      before = now;
    }
    Arrays.sort(steps);
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("placement", placement.settingName());
    row.put("beam", walk.beamWidth());
    for (int percent : new int[] {50, 90, 95, 99, 100}) {
      row.put("p" + percent, steps[Math.min(steps.length - 1, steps.length * percent / 100)]);
    }
    long within = Arrays.stream(steps).filter(count -> count <= 1.1 * walk.beamWidth()).count();
    row.put("within_1.1_beams", Samples.round(within / (double) steps.length, 4));
    context.fragment().add("iterations", row);
    context.say("%s", row);
  }
}
