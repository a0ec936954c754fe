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
 * Who searches, and from where.
 *
 * @param method name of the method in the report
 * @param name name of the placement in the report
 * @param placement null for the CPU
 * @param quantized whether walks compare quantized distances
 */
record Lane(String method, String name, Placement placement, boolean quantized) {

  private static final Set<Placement> QUANTIZED =
      Set.of(Placement.IN_MEMORY, Placement.MAPPED_GRAPH, Placement.HOST_FETCH);

  /** The CPU on all processors, walking on exact or on quantized distances. */
  static Lane cpu(boolean quantized) {
    return new Lane("vamana-cpu", quantized ? "cpu-quantized" : "cpu", null, quantized);
  }

  static Lane gpu(Placement placement) {
    return new Lane(
        "vamana-gpu", placement.settingName(), placement, QUANTIZED.contains(placement));
  }

  /** Those that the options name, in order; without names, the GPU's placements. */
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

  /** As {@link #open(Stage.Context, List)}, with batches made in another way. */
  OpenLane open(Stage.Context context, BatchOptions batches, List<SegmentView> segments)
      throws IOException, InterruptedException {
    if (placement == null) {
      return new OpenLane(new CpuExecutor(context.workers()), null);
    }
    return OpenLane.gpu(context, placement, batches, segments);
  }
}
