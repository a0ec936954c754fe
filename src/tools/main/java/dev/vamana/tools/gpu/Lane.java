package dev.vamana.tools.gpu;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * An executor that searches the graph or the lists of some segments.
 *
 * @param method name of the method in the figures
 * @param name name of the placement in the figures
 * @param quantized whether walks use quantized distances
 * @param executor the executor to measure
 * @param gpu its GPU; null for the CPU
 */
record Lane(String method, String name, boolean quantized, SearchExecutor executor, Gpu gpu)
    implements Closeable {

  /** In place of the name of a placement. */
  static final String CPU = "cpu";

  /**
   * Opens an executor and waits until it serves the segments.
   *
   * @param method name in the figures
   * @param placement the placement; null for the CPU
   */
  static Lane open(
      Stage.Context context, String method, Placement placement, List<SegmentView> segments)
      throws InterruptedException {
    return open(context, method, placement, segments, Gpu.MOST_MEMORY);
  }

  /** As the other, with a limit of the device's memory. */
  static Lane open(
      Stage.Context context,
      String method,
      Placement placement,
      List<SegmentView> segments,
      MemoryLimit limit)
      throws InterruptedException {
    if (placement == null) {
      return new Lane(method, CPU, false, new CpuExecutor(context.workers()), null);
    }
    Gpu gpu = Gpu.open(context.driver(), placement, BatchOptions.DEFAULT, limit);
    segments.forEach(gpu.executor()::opened);
    gpu.await(segments);
    boolean quantized = placement.precision() == Precision.PQ && segments.get(0).lists() == null;
    return new Lane(method, placement.settingName(), quantized, gpu.executor(), gpu);
  }

  /** Returns the placements that the options ask for, where null stands for the CPU. */
  static List<Placement> placements(SuiteOptions options, List<Placement> usual) {
    return options.device() < 0 || options.placements().contains(CPU)
        ? java.util.Collections.singletonList(null)
        : options.placementsOr(usual);
  }

  /** Returns a walk with as many parents a step as a node takes for {@code beam} candidates. */
  WalkParameters walk(int beam) {
    WalkParameters walk =
        quantized ? WalkParameters.quantized(beam, 0) : WalkParameters.exact(beam);
    return walk.withParents(executor.defaultWalk(beam).parents());
  }

  /** Throws if the CPU answered items of the GPU. */
  void check() {
    if (gpu != null && gpu.counts().fallbacks() > 0) {
      throw new IllegalStateException("the CPU answered items: " + gpu.fallbacks());
    }
  }

  @Override
  public void close() throws IOException {
    if (gpu == null) {
      executor.close();
    } else {
      gpu.close();
    }
  }
}
