package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkLayout;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Measures the overhead of a single query: the time of a call of the executor, compared with the
 * time of the same launch repeated directly. A launch reads its query from pinned memory and writes
 * the hits there, so there are no copies to repeat.
 */
final class OverheadStage implements Stage {

  private static final int BEAM = 32;
  private static final int LAUNCHES = 500;

  // until the code of a call is fully compiled
  private static final double WARM_SECONDS = 4;

  private final String setName;

  OverheadStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      for (Placement placement :
          List.of(Placement.EXACT, Placement.IN_MEMORY, Placement.MAPPED_GRAPH)) {
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
    WalkParameters walk =
        placement == Placement.EXACT
            ? WalkParameters.exact(BEAM)
            : WalkParameters.quantized(BEAM, 0);
    AtomicReference<CapturingDriver> current = new AtomicReference<>();
    try (Gpu gpu = Gpu.open(() -> CapturingDriver.open(current), placement, Tuning.DEFAULT)) {
      gpu.executor().opened(index.view());
      gpu.await(List.of(index.view()));
      BatchRun run =
          new BatchRun(gpu.executor(), index.view(), set.vectors().queries().rows(), BenchStage.K);
      run.time(walk, 1, 1, WARM_SECONDS, 1);
      double call = Samples.median(run.time(walk, 1, 1, context.options().seconds(), 1_000));
      CapturingDriver driver = current.get();
      driver.capture();
      for (int i = 0; i < LAUNCHES; i++) {
        run.call(walk, i, 1);
      }
      double direct = Samples.median(again(driver, driver.captured()));
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("placement", placement.settingName());
      row.put("beam", BEAM);
      row.put("p50_us_of_call", Samples.round(call, 1));
      row.put("p50_us_of_launch", Samples.round(direct, 1));
      row.put("ratio", Samples.round(call / direct, 3));
      context.fragment().add("overhead", row);
      context.say("%s", row);
    }
  }

  /**
   * Repeats launches. Returns the microseconds of each, from its start until the host sees its end.
   */
  static double[] again(CudaDriver driver, List<CapturingDriver.Launch> launches) {
    driver.bind();
    long stream = driver.createStream();
    long ended = driver.createEvent();
    double[] times = new double[launches.size()];
    try {
      for (CapturingDriver.Launch launch : launches) {
        // blocks take items by this counter, which the first launch has incremented
        long counter = launch.parameters().get(ValueLayout.JAVA_LONG, WalkLayout.COUNTER);
        driver.fill(counter, (byte) 0, Integer.BYTES, stream);
      }
      driver.synchronize(stream);
      for (int i = 0; i < times.length; i++) {
        CapturingDriver.Launch launch = launches.get(i);
        long start = System.nanoTime();
        driver.launch(
            launch.kernel(),
            launch.blocks(),
            launch.threads(),
            launch.sharedBytes(),
            launch.parameters(),
            stream);
        driver.record(ended, stream);
        while (driver.done(ended) == false) {
          Thread.onSpinWait();
        }
        times[i] = (System.nanoTime() - start) * 1e-3;
      }
    } finally {
      driver.destroyEvent(ended);
      driver.destroyStream(stream);
    }
    return times;
  }
}
