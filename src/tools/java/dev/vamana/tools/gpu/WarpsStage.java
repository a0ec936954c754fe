package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Measures which block size walks fastest, by beam (which determines the shared memory of a walk),
 * parents per step and items of a launch, beside the automatic choice. Launches are repeated
 * without their calls, since a caller may take longer than the kernel.
 */
final class WarpsStage implements Stage {

  static final String SECTION = "warps";

  private static final List<Placement> PLACEMENTS = List.of(Placement.EXACT, Placement.IN_MEMORY);
  private static final int[] BEAMS = {24, 128, 1_000};
  private static final int[] PARENTS = {1, 4};
  // the chunks of larger calls share memory, so that not all items are in place when the call ends
  private static final int[] BATCHES = {100, 300, 1_000, 3_000};
  private static final int LAUNCHES = 9;

  private final String setName;

  WarpsStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      QueryPool pool = QueryPool.of(set.vectors(), index.view(), BATCHES[BATCHES.length - 1]);
      for (Placement placement : context.options().placementsOr(PLACEMENTS)) {
        AtomicReference<CapturingDriver> current = new AtomicReference<>();
        try (Gpu gpu = Gpu.open(() -> CapturingDriver.open(current), placement, Tuning.DEFAULT)) {
          context.fragment().set("device", gpu.device());
          context.fragment().set("driver", gpu.driver());
          gpu.executor().opened(index.view());
          gpu.await(List.of(index.view()));
          BatchRun run = new BatchRun(gpu.executor(), index.view(), pool.queries(), BenchStage.K);
          for (int beam : BEAMS) {
            for (int parents : PARENTS) {
              for (int batch : BATCHES) {
                measure(context, placement, run, current.get(), beam, parents, batch);
              }
            }
          }
        } catch (RuntimeException e) {
          // the others are measured regardless
          context.say("%s: %s", placement, e);
        }
      }
    }
  }

  private void measure(
      Context context,
      Placement placement,
      BatchRun run,
      CapturingDriver driver,
      int beam,
      int parents,
      int batch)
      throws IOException {
    WalkParameters walk =
        new WalkParameters(
            beam,
            placement.copiesCodes()
                ? WalkParameters.Distances.QUANTIZED
                : WalkParameters.Distances.EXACT,
            parents,
            0);
    run.call(walk, 0, batch);
    driver.capture();
    run.call(walk, 0, batch);
    List<CapturingDriver.Launch> launches = driver.captured();
    String usual = launches.get(launches.size() - 1).kernel().name();
    String prefix = usual.substring(0, usual.lastIndexOf("_w") + 2);
    try (RepeatedCall repeated = new RepeatedCall(driver, launches)) {
      for (int warps : Tuning.WARPS) {
        CudaDriver.Kernel kernel = driver.kernel(prefix + warps);
        if (repeated.blocks(kernel, warps) == 0) {
          continue;
        }
        double qps = Samples.qps(batch, 1, repeated.time(kernel, warps, LAUNCHES));
        add(context, placement, beam, parents, batch, warps + " warps", qps);
        if (kernel.name().equals(usual)) {
          add(context, placement, beam, parents, batch, "as usual", qps);
        }
      }
    }
  }

  private void add(
      Context context,
      Placement placement,
      int beam,
      int parents,
      int batch,
      String variant,
      double qps)
      throws IOException {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", SuiteSet.NAMES.get(setName));
    row.put("placement", placement.settingName());
    row.put("beam", beam);
    row.put("parents", parents);
    row.put("batch", batch);
    row.put("variant", variant);
    row.put("qps", Samples.round(qps, 0));
    context.fragment().add(SECTION, row);
    context.say("%s", row);
  }
}
