package dev.vamana.tools.gpu;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Measures the steps of searches of inverted lists by many items together, one kernel after the
 * other. With {@code --steps=8192,16384} the stages of lists do this, with at most as many items a
 * launch, at the narrowest search that reaches their first recall; they measure nothing else then.
 */
final class ListSteps {

  /** Section of the rows. */
  static final String SECTION = "list_steps";

  // so that launches become as large as they may
  private static final long LINGER_NANOS = 3_000_000;

  private ListSteps() {}

  static boolean wanted(SuiteOptions options) {
    return options.steps().isEmpty() == false;
  }

  /** Returns the drivers to open, which know of steps if they are wanted. */
  static Supplier<CudaDriver> drivers(SuiteOptions options, Supplier<CudaDriver> drivers) {
    return wanted(options) ? () -> new StepDriver(drivers.get()) : drivers;
  }

  /**
   * Measures all numbers of items a launch.
   *
   * @param gpu opened with {@link #drivers}
   * @param row what rows begin with
   * @param batch items of a call
   * @param callers number of callers
   */
  static void measure(
      Stage.Context context,
      Gpu gpu,
      BatchRun run,
      WalkParameters walk,
      Map<String, Object> row,
      int batch,
      int callers)
      throws IOException, InterruptedException {
    if (!(gpu.currentDriver() instanceof StepDriver driver)) {
      throw new IllegalStateException("the driver does not know of steps");
    }
    double seconds = context.options().seconds();
    boolean larger = run.view().lists().shape().entryBytes() > driver.device().cacheBytes();
    int times = larger ? BatchOptions.TOGETHER : 1;
    for (int most : context.options().steps()) {
      int each = Math.max(1, most / times);
      gpu.batches(each, 0);
      run.time(walk, batch, callers, seconds, 1);
      driver.start(StepDriver.Mode.COUNT);
      Gpu.Counts before = gpu.counts();
      long start = System.nanoTime();
      run.time(walk, batch, callers, seconds, 1);
      long nanos = System.nanoTime() - start;
      Gpu.Counts counted = gpu.counts().since(before);
      driver.stop();
      List<Integer> parts = driver.parts();
      Map<String, Object> undisturbed = new LinkedHashMap<>(row);
      undisturbed.put("variant", "most " + most);
      undisturbed.put("batch", batch);
      undisturbed.put("callers", callers);
      undisturbed.put("ns_a_query", nanos / Math.max(1, counted.answered()));
      undisturbed.put("launches", counted.launches());
      undisturbed.put("items_a_launch", counted.answered() / Math.max(1, counted.launches()));
      undisturbed.put("parts_together", parts.size());
      undisturbed.put("items_of_parts", spread(parts));
      context.say("steps, undisturbed: %s", undisturbed);
      context.fragment().add(SECTION, undisturbed);

      gpu.batches(each, LINGER_NANOS);
      driver.start(StepDriver.Mode.TIME);
      before = gpu.counts();
      run.time(walk, batch, callers, seconds, 1);
      counted = gpu.counts().since(before);
      List<StepDriver.Step> steps = driver.stop();
      Map<String, Object> timed = new LinkedHashMap<>(row);
      timed.put("variant", "most " + most + ", one kernel after the other");
      timed.put("batch", batch);
      timed.put("callers", callers);
      timed.put("items_of_parts", spread(driver.parts()));
      double items = Math.max(1, counted.answered());
      timed.put("steps", steps.stream().map(step -> row(context, step, items)).toList());
      double all = steps.stream().mapToLong(StepDriver.Step::nanos).sum() / items;
      timed.put("ns_a_query", Samples.round(all, 0));
      context.say(
          "steps, all: %.0f ns a query, items of parts %s", all, timed.get("items_of_parts"));
      context.fragment().add(SECTION, timed);
    }
    gpu.batches(0, 0);
  }

  private static Map<String, Object> row(
      Stage.Context context, StepDriver.Step step, double items) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("kernel", step.name());
    row.put("launches", step.launches());
    row.put("blocks", step.blocks());
    row.put("ms", Samples.round(step.nanos() * 1e-6, 3));
    row.put("ns_a_query", Samples.round(step.nanos() / items, 1));
    row.putAll(step.counts());
    context.say(
        "steps: %-24s %5d launches %10.3f ms %8.1f ns a query, a query: %s, blocks %d",
        step.name(),
        step.launches(),
        step.nanos() * 1e-6,
        step.nanos() / items,
        each(step.counts(), items),
        step.blocks());
    return row;
  }

  private static List<String> each(Map<String, Long> counts, double items) {
    List<String> texts = new ArrayList<>();
    counts.forEach((name, count) -> texts.add(name + " " + Samples.round(count / items, 4)));
    return texts;
  }

  /** Returns the least, the median and the greatest. */
  private static List<Integer> spread(List<Integer> values) {
    if (values.isEmpty()) {
      return List.of();
    }
    List<Integer> sorted = values.stream().sorted().toList();
    return List.of(sorted.get(0), sorted.get(sorted.size() / 2), sorted.get(sorted.size() - 1));
  }
}
