package dev.vamana.cuda.session;

import dev.vamana.cuda.build.BuildPhase;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts graphs built on the device, and those left to the CPU, over all contexts. */
public final class GraphCounters extends WorkCounters implements BuildPhase.Clock {

  final LongAdder graphs = totals.add("graphs");
  final LongAdder nodes = totals.add("nodes");
  final LongAdder nanos = totals.add("nanos");
  final LongAdder unsupported = onCpu.add("unsupported");
  private final LongAdder inHostMemory = totals.add("in_host_memory");
  private final Map<BuildPhase, LongAdder> phases =
      totals.addAll(BuildPhase.class, BuildPhase::counterName);

  GraphCounters() {}

  @Override
  public void ended(BuildPhase phase, long elapsed) {
    phases.get(phase).add(elapsed);
  }

  @Override
  public void inHostMemory() {
    inHostMemory.increment();
  }
}
