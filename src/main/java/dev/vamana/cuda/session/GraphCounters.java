package dev.vamana.cuda.session;

import dev.vamana.cuda.build.BuildPhase;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts graphs built on the device, and those left to the CPU, over all contexts. */
public final class GraphCounters implements BuildPhase.Clock {

  final LongAdder graphs = new LongAdder();
  final LongAdder nodes = new LongAdder();
  final LongAdder nanos = new LongAdder();
  private final LongAdder inHostMemory = new LongAdder();
  private final Map<BuildPhase, LongAdder> phases = new EnumMap<>(BuildPhase.class);
  final LongAdder tooSmall = new LongAdder();
  final LongAdder unsupported = new LongAdder();
  final LongAdder noMemory = new LongAdder();
  final LongAdder noDevice = new LongAdder();
  final LongAdder failed = new LongAdder();

  GraphCounters() {
    for (BuildPhase phase : BuildPhase.values()) {
      phases.put(phase, new LongAdder());
    }
  }

  @Override
  public void ended(BuildPhase phase, long elapsed) {
    phases.get(phase).add(elapsed);
  }

  @Override
  public void inHostMemory() {
    inHostMemory.increment();
  }

  SortedMap<String, Long> totals() {
    SortedMap<String, Long> totals = new TreeMap<>();
    totals.put("graphs", graphs.sum());
    totals.put("nodes", nodes.sum());
    totals.put("nanos", nanos.sum());
    totals.put("in_host_memory", inHostMemory.sum());
    phases.forEach((phase, sum) -> totals.put(phase.counterName(), sum.sum()));
    return totals;
  }

  /** Returns graphs built by the CPU although graphs are to be built on the device, by reason. */
  SortedMap<String, Long> onCpu() {
    SortedMap<String, Long> reasons = new TreeMap<>();
    reasons.put("too_small", tooSmall.sum());
    reasons.put("unsupported", unsupported.sum());
    reasons.put("out_of_memory", noMemory.sum());
    reasons.put("no_device", noDevice.sum());
    reasons.put("failed", failed.sum());
    return reasons;
  }
}
