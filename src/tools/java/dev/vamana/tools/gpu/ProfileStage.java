package dev.vamana.tools.gpu;

import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** Measures the stages of a walk: their shares of the cycles, and the bytes read per query. */
final class ProfileStage implements Stage {

  static final String SECTION = "profile";

  private static final int BEAM = 48;
  private static final List<Integer> BATCHES = List.of(1, 100, 1_000, 10_000);
  private static final List<Integer> PARENTS = List.of(1, 4);
  private static final List<Placement> PLACEMENTS =
      List.of(Placement.EXACT, Placement.EXACT_INT8, Placement.IN_MEMORY, Placement.MAPPED_GRAPH);
  private static final double WARM_UP_SECONDS = 0.3;

  private final String setName;

  ProfileStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      for (Placement placement : context.options().placementsOr(PLACEMENTS)) {
        try {
          measure(context, set, index, placement);
        } catch (RuntimeException e) {
          // the other placements are measured regardless
          context.say("%s: %s", placement, e);
        }
      }
    }
  }

  private static void measure(Context context, SuiteSet set, SetIndex index, Placement placement)
      throws IOException, InterruptedException {
    AtomicReference<CapturingDriver> current = new AtomicReference<>();
    try (Gpu gpu = Gpu.open(() -> CapturingDriver.open(current), placement, Tuning.DEFAULT)) {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      gpu.executor().opened(index.view());
      gpu.await(List.of(index.view()));
      BatchRun run =
          new BatchRun(gpu.executor(), index.view(), set.vectors().queries().rows(), BenchStage.K);
      for (int parents : PARENTS) {
        WalkParameters walk =
            new WalkParameters(
                BEAM,
                placement.copiesCodes()
                    ? WalkParameters.Distances.QUANTIZED
                    : WalkParameters.Distances.EXACT,
                parents,
                0);
        for (int batch : BATCHES) {
          measure(context, set, index, placement, gpu, run, current.get(), walk, batch);
        }
      }
    }
  }

  private static void measure(
      Context context,
      SuiteSet set,
      SetIndex index,
      Placement placement,
      Gpu gpu,
      BatchRun run,
      CapturingDriver driver,
      WalkParameters walk,
      int batch)
      throws IOException, InterruptedException {
    run.time(walk, batch, 1, WARM_UP_SECONDS, 1);
    Gpu.Counts before = gpu.counts();
    driver.capture();
    run.call(walk, 0, batch);
    WalkProfile profile = WalkProfile.of(driver, driver.captured());
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("placement", placement.settingName());
    row.put("batch", batch);
    row.put("beam", BEAM);
    row.put("parents", walk.parents());
    row.put("warps", profile.warps());
    profile.addTo(row);
    WorkOfWalk.of(index.view(), placement, walk, gpu.counts().since(before)).addStagesTo(row);
    context.fragment().add(SECTION, row);
    context.say("%s", row);
  }
}
