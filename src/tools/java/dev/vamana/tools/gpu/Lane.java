package dev.vamana.tools.gpu;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * An executor with a placement, as a row of the report names it.
 *
 * @param method name of the method in the report
 * @param name name of the placement in the report
 * @param placement the placement; null for the CPU
 * @param quantized whether walks use quantized distances
 */
record Lane(String method, String name, Placement placement, boolean quantized) {

  private static final Set<Placement> QUANTIZED =
      Set.of(Placement.IN_MEMORY, Placement.MAPPED_GRAPH, Placement.HOST_FETCH);

  /** Returns the lane of the CPU on all processors, with exact or quantized distances. */
  static Lane cpu(boolean quantized) {
    return new Lane("vamana-cpu", quantized ? "cpu-quantized" : "cpu", null, quantized);
  }

  static Lane gpu(Placement placement) {
    return new Lane(
        "vamana-gpu", placement.settingName(), placement, QUANTIZED.contains(placement));
  }

  /** Returns the lanes named in the options, in order; without names, all placements of the GPU. */
  static List<Lane> chosen(SuiteOptions options) {
    List<Lane> lanes = new ArrayList<>();
    for (Placement placement : Placement.values()) {
      if (options.placements().isEmpty()
          || options.placements().contains(placement.settingName())) {
        lanes.add(gpu(placement));
      }
    }
    for (boolean quantized : new boolean[] {false, true}) {
      Lane cpu = cpu(quantized);
      if (options.placements().contains(cpu.name())) {
        lanes.add(cpu);
      }
    }
    return lanes;
  }

  /** Opens an executor and waits until it serves the segments. */
  OpenLane open(Stage.Context context, List<SegmentView> segments)
      throws IOException, InterruptedException {
    return open(context, BatchOptions.DEFAULT, segments);
  }

  /** As {@link #open(Stage.Context, List)}, with other batch options. */
  OpenLane open(Stage.Context context, BatchOptions batches, List<SegmentView> segments)
      throws IOException, InterruptedException {
    if (placement == null) {
      return new OpenLane(new CpuExecutor(context.workers()), null);
    }
    return OpenLane.gpu(context, placement, batches, segments);
  }
}
