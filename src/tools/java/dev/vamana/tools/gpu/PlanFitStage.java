package dev.vamana.tools.gpu;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SearchExecutor;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Times every plan over the available sets, and fits the coefficients of the cost model. Writes
 * {@code costs.properties} beside the report, which replaces the resource of this name in {@code
 * dev.vamana.cuda.plan}. Another stage times the same plans under load.
 */
final class PlanFitStage implements Stage {

  static final String FILE = "costs.properties";
  private static final List<String> SETS =
      List.of("sift5k", "glove", "mnist", "sift100k", "sift764k");

  /** Sets above this size are used only if they are indexed already. */
  private static final int QUICK = 100_000;

  private static final int LARGE_SCAN = 1_000;

  private static final int[] WALKED = {1, 10, 100, 1_000, 10_000};
  private static final int[] SCANNED = {1, 4, 16, 64, 1_000, 10_000};
  private static final int[] GATHERED = {1, 4, 16, 64, 200};

  private final Supplier<CudaDriver> drivers;
  private final List<String> sets;
  private final CostModel old = CostModel.shipped();
  private final CostFit fit = new CostFit();
  private CostModel shown = old;
  private String measuredOn = old.device();

  PlanFitStage() {
    this(new DeviceProbe(0)::open, SETS);
  }

  /**
   * Makes a stage.
   *
   * @param drivers opens contexts
   * @param sets short names, in the order of measurement
   */
  PlanFitStage(Supplier<CudaDriver> drivers, List<String> sets) {
    this.drivers = drivers;
    this.sets = sets;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    boolean device = context.options().device() >= 0;
    for (String name : sets) {
      if (SuiteSet.isThere(context.options(), name) == false) {
        context.say("%s is not there", name);
        continue;
      }
      SuiteSet set = SuiteSet.load(context.options(), name);
      if (set.vectors().base().size() > QUICK && indexed(context, set) == false) {
        context.say("%s is not indexed", name);
        continue;
      }
      try (SetIndex index = BenchStage.index(context, set)) {
        measureCpu(context, set, index);
        if (device) {
          measureExact(context, set, index);
          measureWalks(context, set, index);
        }
      }
    }
    finish(context);
  }

  private static boolean indexed(Context context, SuiteSet set) {
    String folder = set.vectors().name() + "-" + set.vectors().base().size() + "-vamana";
    return Files.exists(
        context.options().home().resolve("index").resolve(folder).resolve("built.txt"));
  }

  /** Measures one thread, which a single query has. */
  private void measureCpu(Context context, SuiteSet set, SetIndex index) throws IOException {
    try (CpuExecutor cpu = new CpuExecutor(Workers.callingThread())) {
      PlanTrial trial = trial(context, set, index, cpu, Plan.CPU, null);
      for (int accepted : new int[] {20, 200, 2_000}) {
        trial.time(new PlanTrial.Question(10, 40, 1, accepted));
      }
      for (int beam : new int[] {16, 64, 200}) {
        trial.time(new PlanTrial.Question(10, beam, 1, index.view().size()));
      }
    }
  }

  private void measureExact(Context context, SuiteSet set, SetIndex index)
      throws IOException, InterruptedException {
    int size = index.view().size();
    // a plan without cost is always chosen
    CostModel scans =
        old.with(CostForm.SCAN, CostForm.SCAN.none())
            .with(CostForm.BATCHED_SCAN, CostForm.BATCHED_SCAN.none());
    try (Gpu gpu = open(context, index, Placement.EXACT, new PlanOptions(PlanMode.EXACT, scans))) {
      PlanTrial trial = trial(context, set, index, gpu.executor(), Plan.SCAN, Placement.EXACT);
      for (int batch : batches(context, SCANNED)) {
        trial.time(new PlanTrial.Question(10, 40, batch, size));
        if (batch <= LARGE_SCAN) {
          trial.time(new PlanTrial.Question(100, 100, batch, size));
          trial.time(new PlanTrial.Question(10, 40, batch, size / 2));
        }
      }
    }
    CostModel gathers =
        old.with(CostForm.GATHER, CostForm.GATHER.none())
            .with(CostForm.BATCHED_GATHER, CostForm.BATCHED_GATHER.none());
    try (Gpu gpu =
        open(context, index, Placement.EXACT, new PlanOptions(PlanMode.EXACT, gathers))) {
      PlanTrial trial = trial(context, set, index, gpu.executor(), Plan.GATHER, Placement.EXACT);
      for (int accepted : new int[] {30, 300, 3_000, 30_000}) {
        for (int batch : batches(context, GATHERED)) {
          if (accepted < size) {
            trial.time(new PlanTrial.Question(10, 40, batch, accepted));
            trial.time(new PlanTrial.Question(100, 100, batch, accepted));
          }
        }
      }
    }
  }

  private void measureWalks(Context context, SuiteSet set, SetIndex index)
      throws IOException, InterruptedException {
    for (Placement placement :
        List.of(
            Placement.EXACT, Placement.IN_MEMORY, Placement.MAPPED_GRAPH, Placement.HOST_FETCH)) {
      if (placement.precision() == Precision.PQ && index.view().codebook() == null) {
        continue;
      }
      try (Gpu gpu = open(context, index, placement, Gpu.WALKS)) {
        PlanTrial trial = trial(context, set, index, gpu.executor(), Plan.GRAPH, placement);
        for (int batch : batches(context, WALKED)) {
          for (int beam : new int[] {16, 64}) {
            for (int parents : new int[] {1, 4}) {
              trial.time(new PlanTrial.Question(10, beam, batch, index.view().size(), parents));
            }
          }
        }
      } catch (IllegalStateException e) {
        // the files cannot be registered, or the set is so small that it is scanned
        context.say("%s: %s", placement.settingName(), e.getMessage());
      }
    }
  }

  /** Returns the sizes up to the largest requested batch. */
  private static int[] batches(Context context, int[] sizes) {
    int most = context.options().batches().stream().max(Integer::compare).orElse(Integer.MAX_VALUE);
    return Arrays.stream(sizes).filter(size -> size <= most).toArray();
  }

  private PlanTrial trial(
      Context context,
      SuiteSet set,
      SetIndex index,
      SearchExecutor executor,
      Plan plan,
      Placement placement) {
    return new PlanTrial(
        context,
        shown,
        fit,
        set.vectors().name(),
        executor,
        index.view(),
        set.vectors().queries().rows(),
        plan,
        placement,
        EnumSet.noneOf(CostForm.class));
  }

  private Gpu open(Context context, SetIndex index, Placement placement, PlanOptions plans)
      throws IOException, InterruptedException {
    Gpu gpu = Gpu.open(drivers, placement, plans);
    context.fragment().set("device", gpu.device());
    context.fragment().set("driver", gpu.driver());
    try {
      gpu.executor().opened(index.view());
      gpu.await(List.of(index.view()));
    } catch (RuntimeException | InterruptedException e) {
      gpu.close();
      throw e;
    }
    if (gpu.executor() instanceof GpuExecutor executor) {
      shown = old.scaledTo(executor.device().multiprocessors());
      measuredOn = executor.device().name();
    }
    return gpu;
  }

  private void finish(Context context) throws IOException {
    CostModel fitted = shown.measuredOn(measuredOn, LocalDate.now(ZoneOffset.UTC).toString());
    for (CostForm form : CostForm.values()) {
      double[] before = fitted.coefficients(form);
      double[] after = fit.coefficients(form, before);
      fitted = fitted.with(form, after);
      context.say(
          "%-12s %3d times, typically off by a factor of %.2f, before %.2f",
          form, fit.count(form), fit.typicalFactor(form, after), fit.typicalFactor(form, before));
    }
    StringBuilder text = new StringBuilder();
    text.append("# Nanoseconds of each term of the formulas in docs/internals/query-plans.md.\n");
    for (Map.Entry<String, String> entry : fitted.toProperties().entrySet()) {
      text.append(entry.getKey()).append('=').append(entry.getValue()).append('\n');
    }
    Path file = context.options().home().resolve("report").resolve(FILE);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    context.say("%s", file);
  }
}
