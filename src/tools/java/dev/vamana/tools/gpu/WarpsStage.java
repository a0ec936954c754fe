package dev.vamana.tools.gpu;

import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures which block size walks fastest, by beam (which determines the shared memory of a walk),
 * parents per step and items of a launch. The automatic choice is measured as well.
 */
final class WarpsStage implements Stage {

  static final String SECTION = "warps";

  private static final List<Placement> PLACEMENTS = List.of(Placement.EXACT, Placement.IN_MEMORY);
  private static final int[] BEAMS = {24, 128, 1_000};
  private static final int[] PARENTS = {1, 4};
  private static final int[] BATCHES = {100, 300, 600, 2_000, 10_000};
  private static final int SAMPLES = 25;

  private final String setName;

  WarpsStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      for (Placement placement : PLACEMENTS) {
        for (int warps : warps()) {
          try (Gpu gpu = Gpu.open(placement, Tuning.DEFAULT.withWarps(warps))) {
            context.fragment().set("device", gpu.device());
            context.fragment().set("driver", gpu.driver());
            gpu.executor().opened(index.view());
            gpu.await(List.of(index.view()));
            measure(context, set, index, placement, warps, gpu);
          } catch (RuntimeException e) {
            // the others are measured regardless
            context.say("%s, %d warps: %s", placement, warps, e);
          }
        }
      }
    }
  }

  private static List<Integer> warps() {
    List<Integer> all = new ArrayList<>(Tuning.WARPS);
    all.add(0);
    return all;
  }

  private static void measure(
      Context context, SuiteSet set, SetIndex index, Placement placement, int warps, Gpu gpu)
      throws IOException, InterruptedException {
    BatchRun run =
        new BatchRun(gpu.executor(), index.view(), set.vectors().queries().rows(), BenchStage.K);
    double seconds = context.options().seconds();
    for (int beam : BEAMS) {
      for (int parents : PARENTS) {
        WalkParameters walk =
            new WalkParameters(
                beam,
                placement == Placement.EXACT
                    ? WalkParameters.Distances.EXACT
                    : WalkParameters.Distances.QUANTIZED,
                parents,
                0);
        for (int batch : BATCHES) {
          run.time(walk, batch, 1, seconds / 2, 1);
          Gpu.Counts before = gpu.counts();
          double qps = Samples.qps(batch, 1, run.time(walk, batch, 1, seconds, SAMPLES));
          if (gpu.counts().since(before).fallbacks() > 0) {
            throw new IllegalStateException("the CPU answered items: " + gpu.fallbacks());
          }
          Map<String, Object> row = new LinkedHashMap<>();
          row.put("set", set.vectors().name());
          row.put("placement", placement.settingName());
          row.put("beam", beam);
          row.put("parents", parents);
          row.put("batch", batch);
          row.put("variant", warps == 0 ? "as usual" : warps + " warps");
          row.put("qps", Samples.round(qps, 0));
          context.fragment().add(SECTION, row);
          context.say("%s", row);
        }
      }
    }
  }
}
