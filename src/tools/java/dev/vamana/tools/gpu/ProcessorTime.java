package dev.vamana.tools.gpu;

import java.lang.management.ManagementFactory;

/** What this process has used of the processors. */
final class ProcessorTime {

  private ProcessorTime() {}

  /** Returns the processor time of all threads so far, in nanoseconds. */
  static long nanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
