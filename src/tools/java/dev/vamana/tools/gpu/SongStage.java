package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Compares SONG's structures (Zhao, Tan and Li, 2020) with this project's walk: visited sets,
 * several queries a warp, several nodes a step, selected insertion. All walk the same graph with
 * the same worklist, compute the same distances, and are timed as launches without their calls.
 */
final class SongStage implements Stage {

  private static final int BEAM = 48;
  private static final int BATCH = 10_000;
  private static final int LAUNCHES = 5;
  private static final int LONE_LAUNCHES = 50;

  /** What a walk of this beam visits on the sets measured so far, and some more. */
  private static final double NODES = 2_048;

  private final String setName;

  SongStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      QueryPool pool = QueryPool.of(set.vectors(), index.view(), BATCH);
      usual(context, set, index, pool);
      try (CudaDriver driver = Gpu.openDriver();
          SongWalks walks =
              new SongWalks(driver, set.vectors(), index.view(), pool.queries(), BenchStage.K)) {
        for (SongVariant variant : SongVariant.all()) {
          measure(context, set, walks, variant);
        }
      }
    }
  }

  /** Our own launches, by the number of nodes a step. */
  private static void usual(Context context, SuiteSet set, SetIndex index, QueryPool pool)
      throws IOException, InterruptedException {
    AtomicReference<CapturingDriver> current = new AtomicReference<>();
    try (Gpu gpu = Gpu.open(() -> CapturingDriver.open(current), Placement.EXACT, Tuning.DEFAULT)) {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      gpu.executor().opened(index.view());
      gpu.await(List.of(index.view()));
      BatchRun run = new BatchRun(gpu.executor(), index.view(), pool.queries(), BenchStage.K);
      for (int parents : new int[] {1, 2, 4, 8}) {
        WalkParameters walk = new WalkParameters(BEAM, WalkParameters.Distances.EXACT, parents, 0);
        Gpu.Counts before = gpu.counts();
        int[][] hits = Arrays.copyOf(run.hits(walk), set.vectors().queries().size());
        Gpu.Counts counts = gpu.counts().since(before);
        double batch = again(current.get(), run, walk, BATCH, LAUNCHES);
        double one = again(current.get(), run, walk, 1, LONE_LAUNCHES);
        add(
            context,
            set,
            "this project, " + parents + (parents == 1 ? " node a step" : " nodes a step"),
            new Recall(set.vectors(), BenchStage.K).of(hits),
            batch,
            one,
            counts.distances() / (double) counts.answered(),
            counts.steps() / (double) counts.answered());
      }
    }
  }

  private static double again(
      CapturingDriver driver, BatchRun run, WalkParameters walk, int batch, int launches)
      throws IOException {
    run.call(walk, 0, batch);
    driver.capture();
    if (batch == 1) {
      for (int i = 0; i < launches; i++) {
        run.call(walk, i, 1);
      }
      return Samples.median(again(driver, driver.captured()));
    }
    run.call(walk, 0, batch);
    List<CapturingDriver.Launch> captured = driver.captured();
    CudaDriver.Kernel kernel = captured.get(captured.size() - 1).kernel();
    int warps = Integer.parseInt(kernel.name().substring(kernel.name().lastIndexOf("_w") + 2));
    try (RepeatedCall repeated = new RepeatedCall(driver, captured)) {
      return Samples.median(repeated.time(kernel, warps, launches));
    }
  }

  private static void measure(Context context, SuiteSet set, SongWalks walks, SongVariant variant)
      throws IOException {
    int blocks = walks.prepare(variant, BEAM, NODES, BATCH);
    if (blocks == 0) {
      context.say("%s: more shared memory than a block may have", variant);
      return;
    }
    int own = set.vectors().queries().size();
    walks.walk(variant, blocks);
    double[] times = new double[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) {
      times[i] = walks.walk(variant, blocks);
    }
    walks.fetch();
    double recall = new Recall(set.vectors(), BenchStage.K).of(walks.hits(own));
    double distances = walks.mean(0, own);
    double steps = walks.mean(1, own);
    double[] lone = new double[LONE_LAUNCHES];
    int block = walks.prepare(variant, BEAM, NODES, 1);
    for (int i = 0; i < LONE_LAUNCHES; i++) {
      lone[i] = walks.walk(variant, block);
    }
    add(
        context,
        set,
        variant.toString(),
        recall,
        Samples.median(times),
        Samples.median(lone),
        distances,
        steps);
  }

  private static void add(
      Context context,
      SuiteSet set,
      String variant,
      double recall,
      double batchMicros,
      double loneMicros,
      double distances,
      double steps)
      throws IOException {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("placement", "launches");
    row.put("variant", variant);
    row.put("beam", BEAM);
    row.put("batch", BATCH);
    row.put("recall_at_10", Samples.round(recall, 5));
    row.put("qps", Samples.round(BATCH * 1e6 / batchMicros, 0));
    row.put("p50_us_of_one", Samples.round(loneMicros, 1));
    row.put("distances", Samples.round(distances, 2));
    row.put("steps", Samples.round(steps, 2));
    context.fragment().add("ablations", row);
    context.say("%s", row);
  }

  /**
   * Repeats launches. Returns the microseconds of each, from its start until the host sees its end.
   */
  private static double[] again(CudaDriver driver, List<CapturingDriver.Launch> launches) {
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
