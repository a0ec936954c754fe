package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures what a query over eight segments pays on a node with a device that answers none of them:
 * the CPU's executor, and the device's with and without measurements, in turns. The device needs no
 * processor, and so long that the CPU is always better.
 */
final class LeftStage implements Stage {

  private static final int SEGMENTS = 8;
  private static final int K = 10;
  private static final int ROUNDS = 20;
  private static final long LAUNCH_NANOS = 20_000_000;
  private static final double NEVER = 1e12;

  private final String setName;

  LeftStage(String setName) {
    this.setName = setName;
  }

  /** A device that makes everybody wait. */
  static final class SlowDriver extends ForwardingDriver {
    SlowDriver() {
      super(new InstantDriver());
    }

    @Override
    public void launch(
        Kernel kernel,
        int blocks,
        int threads,
        int sharedBytes,
        MemorySegment parameters,
        long stream) {
      LockSupport.parkNanos(LAUNCH_NANOS);
      super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
    }
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    String folder =
        set.vectors().name() + "-" + set.vectors().base().size() + "-vamana-" + SEGMENTS;
    try (SetIndex index =
        SetIndex.open(
            context.options().home().resolve("index").resolve(folder),
            set,
            new VamanaVectorsFormat(VamanaParameters.DEFAULT, context.workers()),
            SEGMENTS,
            1)) {
      measure(context, set, index);
    }
  }

  private static void measure(Context context, SuiteSet set, SetIndex index)
      throws IOException, InterruptedException {
    List<SegmentView> views =
        index.reader().leaves().stream().map(leaf -> SetIndex.view(leaf.reader())).toList();
    CostModel costs = CostModel.shipped().with(CostForm.HAND_OVER, new double[] {NEVER});
    PlanOptions measured = new PlanOptions(PlanMode.AUTO, costs);
    try (CpuExecutor cpu = new CpuExecutor(Workers.callingThread());
        Gpu predicts = open(views, measured.unmeasured());
        Gpu measures = open(views, measured)) {
      Map<String, SearchExecutor> executors = new LinkedHashMap<>();
      executors.put("cpu", cpu);
      executors.put("predicted", predicts.executor());
      executors.put("measured", measures.executor());
      Map<String, List<Double>> micros = new LinkedHashMap<>();
      float[][] queries = set.vectors().queries().rows();
      for (int round = 0; round < ROUNDS; round++) {
        for (Map.Entry<String, SearchExecutor> each : executors.entrySet()) {
          double median =
              time(each.getValue(), views, queries, context.options().seconds() / ROUNDS);
          if (round >= ROUNDS / 2) {
            micros.computeIfAbsent(each.getKey(), unseen -> new ArrayList<>()).add(median);
          }
        }
      }
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("segments", SEGMENTS);
      for (Map.Entry<String, List<Double>> each : micros.entrySet()) {
        double[] own = each.getValue().stream().mapToDouble(Double::doubleValue).toArray();
        row.put("p50_us_" + each.getKey(), Samples.round(Samples.median(own), 2));
      }
      context.fragment().add("left", row);
      context.say("%s", row);
      if (measures.executor() instanceof GpuExecutor executor) {
        context.say("%s", executor.statistics().counters());
      }
    }
  }

  private static Gpu open(List<SegmentView> views, PlanOptions plans) throws InterruptedException {
    Gpu gpu = Gpu.open(LeftStage::slow, Placement.EXACT, plans);
    views.forEach(gpu.executor()::opened);
    gpu.await(views);
    return gpu;
  }

  private static CudaDriver slow() {
    return new SlowDriver();
  }

  /** Returns the median microseconds of a query over all segments. */
  private static double time(
      SearchExecutor executor, List<SegmentView> views, float[][] queries, double seconds)
      throws IOException {
    List<Double> samples = new ArrayList<>();
    long end = System.nanoTime() + (long) (seconds * 1e9);
    WalkParameters walk = WalkParameters.exact(K);
    for (int query = 0; System.nanoTime() < end || samples.isEmpty(); query++) {
      // another array for each query, as requests have
      QueryVector vector = QueryVector.of(queries[query % queries.length].clone());
      long start = System.nanoTime();
      for (SegmentView view : views) {
        executor.search(
            List.of(
                new WorkItem(
                    view,
                    vector,
                    K,
                    walk,
                    null,
                    view.size(),
                    Long.MAX_VALUE,
                    () -> false,
                    new int[0])));
      }
      samples.add((System.nanoTime() - start) * 1e-3);
    }
    return Samples.median(samples.stream().mapToDouble(Double::doubleValue).toArray());
  }
}
