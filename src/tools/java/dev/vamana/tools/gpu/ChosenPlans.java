package dev.vamana.tools.gpu;

import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Measures the plans that a node with default settings chooses for a segment with inverted lists
 * whose raw vectors are on the device: an exact answer, or a search of lists.
 */
final class ChosenPlans {

  /** What the method of rows is called in addition. */
  static final String SUFFIX = "-auto";

  private static final double WARM_UP_SECONDS = 2;

  private final Stage.Context context;
  private final Supplier<CudaDriver> drivers;
  private final String method;

  /**
   * Makes an instance.
   *
   * @param drivers opens contexts
   * @param method method of the rows of searches of lists
   */
  ChosenPlans(Stage.Context context, Supplier<CudaDriver> drivers, String method) {
    this.context = context;
    this.drivers = drivers;
    this.method = method;
  }

  /**
   * Measures searches of the widths that lists need for each recall. The plan depends on the
   * queries of a call, so recall is measured with as many. Where a search is answered exactly,
   * wider ones are left out: they have the same answer.
   */
  void measure(SuiteSet set, SetIndex index, QueryPool pool)
      throws IOException, InterruptedException {
    Set<Integer> widths;
    try (Gpu gpu = open(index, Gpu.WALKS)) {
      widths = BeamSweep.run(run(gpu, set, index), set.vectors(), ListsStage::walk).beams();
    }
    try (Gpu gpu = open(index, new PlanOptions(PlanMode.AUTO, CostModel.shipped()))) {
      BatchRun own = run(gpu, set, index);
      BatchRun pooled = new BatchRun(gpu.executor(), index.view(), pool.queries(), BenchStage.K);
      Recall recall = new Recall(set.vectors(), BenchStage.K);
      for (int batch : context.options().batches()) {
        warmUp(pooled, batch);
        boolean exact = false;
        for (int width : widths) {
          if (exact == false) {
            double found = recall.of(own.hits(ListsStage.walk(width), batch));
            for (int callers : ListsStage.CALLERS) {
              exact = measure(gpu, set, pooled, batch, callers, width, found);
            }
          }
        }
      }
      if (gpu.counts().fallbacks() > 0) {
        throw new IllegalStateException("the CPU answered items: " + gpu.fallbacks());
      }
    }
  }

  private Gpu open(SetIndex index, PlanOptions plans) throws IOException, InterruptedException {
    Gpu gpu = Gpu.open(drivers, Placement.EXACT, plans);
    try {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      gpu.executor().opened(index.view());
      gpu.await(List.of(index.view()));
    } catch (RuntimeException | IOException | InterruptedException e) {
      gpu.close();
      throw e;
    }
    return gpu;
  }

  private static BatchRun run(Gpu gpu, SuiteSet set, SetIndex index) {
    return new BatchRun(gpu.executor(), index.view(), set.vectors().queries().rows(), BenchStage.K);
  }

  private void warmUp(BatchRun pooled, int batch) throws IOException, InterruptedException {
    double seconds = Math.min(WARM_UP_SECONDS, 2 * context.options().seconds());
    pooled.time(ListsStage.walk(BenchStage.K), batch, 1, seconds, 1);
  }

  /** Adds a row. Returns whether no item's lists were searched. */
  private boolean measure(
      Gpu gpu, SuiteSet set, BatchRun pooled, int batch, int callers, int width, double recall)
      throws IOException, InterruptedException {
    double seconds = context.options().seconds();
    pooled.time(ListsStage.walk(width), batch, callers, seconds, 1);
    Map<String, Long> before = gpu.plans();
    double[] microseconds =
        pooled.time(
            ListsStage.walk(width),
            batch,
            callers,
            seconds,
            batch == 1 ? ListsStage.SINGLE_SAMPLES : ListsStage.SAMPLES);
    String plan = since(before, gpu.plans());
    context.add(
        new Measurement(
            set.subject(),
            method + SUFFIX,
            Placement.EXACT.settingName(),
            batch,
            callers,
            width,
            recall,
            microseconds,
            Map.of("plan", plan)));
    return plan.contains(Plan.LISTS.statisticsName()) == false;
  }

  /** Returns the plans that have answered items since, the one of most items first. */
  private static String since(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Long> items = new TreeMap<>(after);
    before.forEach((plan, earlier) -> items.merge(plan, -earlier, Long::sum));
    return items.entrySet().stream()
        .filter(entry -> entry.getValue() > 0)
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .map(Map.Entry::getKey)
        .collect(Collectors.joining(" and "));
  }
}
