package dev.vamana.cuda.session;

import java.util.concurrent.atomic.LongAdder;

/** Counts graphs built on the device, and those left to the CPU, over all contexts. */
public final class GraphCounters extends WorkCounters {

  final LongAdder graphs = totals.add("graphs");
  final LongAdder nodes = totals.add("nodes");
  final LongAdder nanos = totals.add("nanos");
  final LongAdder unsupported = onCpu.add("unsupported");

  GraphCounters() {}
}
