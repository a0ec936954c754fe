package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.Trouble.Kind;
import dev.vamana.elasticsearch.monitor.segments.LeftoverSegments;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/** Finds out what is wrong on a node. Thread-safe. */
public final class NodeHealth {
  private static final double LEAST_RECALL = 0.9;
  private static final long LATELY_MILLIS = 600_000;

  private static final String GPU = "gpu";

  private final DamagedFiles damaged;
  private final LeftoverSegments leftovers;
  private final LongSupplier clock;
  private long unplaced;
  private long unplacedAt = Long.MIN_VALUE;

  /**
   * Makes an instance.
   *
   * @param clock milliseconds, from any beginning
   */
  public NodeHealth(DamagedFiles damaged, LeftoverSegments leftovers, LongSupplier clock) {
    this.damaged = damaged;
    this.leftovers = leftovers;
    this.clock = clock;
  }

  /**
   * Lists what is wrong with the node now.
   *
   * @param gpu the node's statistics of the GPU
   * @param recall the node's section {@code recall}
   */
  public List<Trouble> troubles(GpuStats gpu, Map<String, Object> recall) {
    List<Trouble> all = new ArrayList<>(damaged.troubles());
    if (gpu.reason() != null) {
      switch (gpu.now()) {
        case UNAVAILABLE -> all.add(new Trouble(Kind.GPU_UNAVAILABLE, GPU, gpu.reason()));
        case READY, FAILED -> all.add(new Trouble(Kind.GPU_LOST, GPU, gpu.reason()));
        case OFF, TESTING -> {}
      }
    }
    addMemory(gpu, all);
    for (Map<?, ?> row : NodeFigures.list(recall.get("searches"))) {
      if ((Double) row.get("recall_high") < LEAST_RECALL) {
        all.add(new Trouble(Kind.LOW_RECALL, row.get("index") + "/" + row.get("field"), low(row)));
      }
    }
    all.addAll(leftovers.troubles());
    return List.copyOf(all);
  }

  private static String low(Map<?, ?> row) {
    return "recall is at most "
        + row.get("recall_high")
        + " with k up to "
        + row.get("k")
        + ", by "
        + row.get("queries")
        + " searches";
  }

  /** Counters only grow, so what they say now is what they have grown by lately. */
  private synchronized void addMemory(GpuStats gpu, List<Trouble> all) {
    long count = gpu.counter("residency", "misses_over_budget");
    long now = clock.getAsLong();
    if (count != unplaced) {
      unplaced = count;
      unplacedAt = now;
    }
    if (count > 0 && now - unplacedAt < LATELY_MILLIS) {
      String message = count + " times a search found a segment not there, since the node started";
      all.add(new Trouble(Kind.DEVICE_MEMORY, GPU, message));
    }
  }
}
