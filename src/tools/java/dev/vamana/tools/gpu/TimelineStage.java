package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Measures where the time of a call goes, for one caller: making items, the way to the first
 * launch, the launches, the device until its last result, and the way back. Also how long it takes
 * until the code of a call is compiled.
 */
final class TimelineStage implements Stage {

  static final String SECTION = "timeline";

  private static final int[] BEAMS = {24, 64};
  private static final int[] PARENTS = {1, 4};
  private static final int CALLS = 200;
  private static final int WINDOWS = 6;
  private static final int MANY = 1_000;

  private final String setName;
  private final Supplier<CudaDriver> drivers;

  /** Measures calls of a device. */
  TimelineStage(String setName) {
    this(setName, new DeviceProbe(0)::open);
  }

  /** Measures calls of what the supplier opens. */
  TimelineStage(String setName, Supplier<CudaDriver> drivers) {
    this.setName = setName;
    this.drivers = drivers;
  }

  /** Notes when launches begin and end, and when the device was last seen to be done. */
  private static final class Clock extends ForwardingDriver {
    private int launches;
    private String kernel;
    private long firstLaunch;
    private long launchNanos;
    private long lastLaunched;
    private long lastDone;

    Clock(CudaDriver driver) {
      super(driver);
    }

    synchronized void reset() {
      launches = 0;
      launchNanos = 0;
    }

    synchronized String kernel() {
      return kernel;
    }

    synchronized double[] intervals(long begun, long made, long ended) {
      return new double[] {
        (ended - begun) * 1e-3,
        (made - begun) * 1e-3,
        (firstLaunch - made) * 1e-3,
        launches,
        launchNanos * 1e-3,
        (lastLaunched - firstLaunch) * 1e-3,
        (lastDone - lastLaunched) * 1e-3,
        (ended - lastDone) * 1e-3
      };
    }

    @Override
    public void launch(
        Kernel kernel,
        int blocks,
        int threads,
        int sharedBytes,
        MemorySegment parameters,
        long stream) {
      long start = System.nanoTime();
      super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
      long end = System.nanoTime();
      synchronized (this) {
        this.kernel = kernel.name();
        firstLaunch = launches++ == 0 ? start : firstLaunch;
        launchNanos += end - start;
        lastLaunched = end;
      }
    }

    @Override
    public boolean done(long event) {
      boolean done = super.done(event);
      if (done) {
        long now = System.nanoTime();
        synchronized (this) {
          lastDone = now;
        }
      }
      return done;
    }
  }

  private static final List<String> INTERVALS =
      List.of(
          "call_us",
          "make_items_us",
          "to_first_launch_us",
          "launches",
          "launching_us",
          "first_to_last_launch_us",
          "last_launch_to_done_us",
          "done_to_return_us");

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      int largest =
          context.options().batches().stream().mapToInt(Integer::intValue).max().orElse(1);
      QueryPool pool = QueryPool.of(set.vectors(), index.view(), largest);
      for (Placement placement : context.options().placementsOr(List.of(Placement.EXACT))) {
        measure(context, set, index.view(), pool, placement);
      }
    }
  }

  private void measure(
      Context context, SuiteSet set, SegmentView view, QueryPool pool, Placement placement)
      throws IOException, InterruptedException {
    AtomicReference<Clock> current = new AtomicReference<>();
    try (Gpu gpu =
        OpenGpu.open(
            () -> {
              Clock opened = new Clock(drivers.get());
              current.set(opened);
              return opened;
            },
            placement,
            context.options().batching(),
            null,
            Gpu.WALKS)) {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      gpu.executor().opened(view);
      gpu.await(List.of(view));
      BatchRun run = new BatchRun(gpu.executor(), view, pool.queries(), BenchStage.K);
      warm(context, set, run);
      for (int beam : BEAMS) {
        for (int parents : PARENTS) {
          WalkParameters walk =
              new WalkParameters(beam, WalkParameters.Distances.EXACT, parents, 0);
          for (int batch : context.options().batches()) {
            measure(context, set, run, current.get(), placement, walk, batch);
          }
        }
      }
    }
  }

  /** Records the times of calls while the JVM compiles their code. */
  private static void warm(Context context, SuiteSet set, BatchRun run)
      throws IOException, InterruptedException {
    WalkParameters walk = WalkParameters.exact(BEAMS[0]);
    for (int window = 0; window < WINDOWS; window++) {
      double[] samples = run.time(walk, MANY, 1, context.options().seconds(), Integer.MAX_VALUE);
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("batch", MANY);
      row.put("after_seconds", Samples.round(window * context.options().seconds(), 2));
      row.put("mean_us", Samples.round(MANY * 1e6 / Samples.qps(MANY, 1, samples), 1));
      row.put("p50_us", Samples.round(Samples.median(samples), 1));
      context.fragment().add(SECTION, row);
      context.say("%s", row);
    }
  }

  private static void measure(
      Context context,
      SuiteSet set,
      BatchRun run,
      Clock clock,
      Placement placement,
      WalkParameters walk,
      int batch)
      throws IOException, InterruptedException {
    run.time(walk, batch, 1, context.options().seconds(), 1);
    List<double[]> all = new ArrayList<>();
    for (int i = 0; i < CALLS && (i < 20 || batch < 5_000); i++) {
      clock.reset();
      long begun = System.nanoTime();
      List<WorkItem> items = run.items(walk, i * batch % run.queries().length, batch);
      long made = System.nanoTime();
      run.executor().search(items);
      all.add(clock.intervals(begun, made, System.nanoTime()));
    }
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("placement", placement.settingName());
    row.put("first_items", context.options().firstItems());
    row.put("packers", context.options().packers());
    row.put("beam", walk.beamWidth());
    row.put("parents", walk.parents());
    row.put("batch", batch);
    row.put("kernel", clock.kernel());
    for (int i = 0; i < INTERVALS.size(); i++) {
      int column = i;
      double[] values = all.stream().mapToDouble(intervals -> intervals[column]).toArray();
      row.put(INTERVALS.get(i), Samples.round(Samples.median(values), 1));
    }
    context.fragment().add(SECTION, row);
    context.say("%s", row);
  }
}
