package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.lucene.util.FixedBitSet;

/**
 * Base class with executors that use one plan, or a cost model of a few round numbers. They run on
 * the device if there is one, otherwise on a simulated one.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
abstract class PlanTestCase extends GpuTestCase {

  /** Whether a device is there. */
  static boolean onDevice() {
    return Gpu.missing() == null;
  }

  /** Opens it, or one that is simulated. */
  static CudaDriver device() {
    return device(random().nextBoolean());
  }

  /**
   * As {@link #device()}, for threads without a random of their own.
   *
   * @param threaded whether streams of a simulated one have threads
   */
  static CudaDriver device(boolean threaded) {
    return onDevice() ? Gpu.openDriver() : new SimulatedDriver(kernels, DEVICE_BYTES, threaded);
  }

  /** Kernels that wait, which only a simulated device can run. */
  static BlockedKernels blocked() {
    assumeTrue("needs kernels of the host", kernels != null);
    return new BlockedKernels(kernels);
  }

  /** A model in which nothing takes time. */
  static CostModel free() {
    CostModel model = CostModel.shipped();
    for (CostForm form : CostForm.values()) {
      model = model.with(form, form.none());
    }
    return model;
  }

  /** As {@link #free}, but for a coefficient of each call of some plans; lists cost a walk. */
  static CostModel costs(double scan, double gather, double walk, double cpu) {
    return free()
        .with(CostForm.SCAN, first(CostForm.SCAN, scan))
        .with(CostForm.BATCHED_SCAN, first(CostForm.BATCHED_SCAN, scan))
        .with(CostForm.GATHER, first(CostForm.GATHER, gather))
        .with(CostForm.BATCHED_GATHER, first(CostForm.BATCHED_GATHER, gather))
        .with(CostForm.WALK, first(CostForm.WALK, walk))
        .with(CostForm.LISTS, first(CostForm.LISTS, walk))
        .with(CostForm.CPU_SCAN, first(CostForm.CPU_SCAN, cpu))
        .with(CostForm.CPU_WALK, first(CostForm.CPU_WALK, cpu));
  }

  /** A model that has these coefficients once it is adapted to the device. */
  static CostModel atScale(CostModel model, CudaDriver driver) {
    return new CostModel(
        driver.device().multiprocessors(),
        Arrays.stream(CostForm.values())
            .collect(Collectors.toMap(form -> form, model::coefficients)));
  }

  private static double[] first(CostForm form, double value) {
    double[] coefficients = form.none();
    coefficients[0] = value;
    return coefficients;
  }

  static GpuOptions options(PlanMode mode, CostModel costs) {
    return QUIET.withBatches(BATCHES).withPlans(new PlanOptions(mode, costs));
  }

  static GpuOptions pinned(PlanMode mode) {
    return options(mode, CostModel.shipped());
  }

  /** Results of scoring every accepted vector. */
  static List<WorkResult> scanned(List<WorkItem> items) throws IOException {
    List<WorkResult> results = new ArrayList<>();
    for (WorkItem item : items) {
      results.add(CpuExecutor.scan(item));
    }
    return results;
  }

  static WorkItem item(TestIndex index, SegmentView view, int k, FixedBitSet accepted) {
    return item(index.vector(), view, k, accepted, () -> false);
  }

  static WorkItem item(
      QueryVector query, SegmentView view, int k, FixedBitSet accepted, BooleanSupplier cancelled) {
    return new WorkItem(
        view,
        query,
        k,
        WalkParameters.exact(Math.max(k, 10)),
        accepted,
        accepted == null ? view.size() : accepted.cardinality(),
        Long.MAX_VALUE,
        cancelled,
        new int[0]);
  }

  /** So many bits, anywhere. */
  static FixedBitSet some(int size, int count) {
    FixedBitSet bits = new FixedBitSet(size);
    while (bits.cardinality() < count) {
      bits.set(random().nextInt(size));
    }
    return bits;
  }

  static long items(GpuExecutor executor, String plan) {
    return executor.statistics().counter("plan_items", plan);
  }

  static long onCpu(GpuExecutor executor, String reason) {
    return executor.statistics().counter("items_on_cpu", reason);
  }
}
