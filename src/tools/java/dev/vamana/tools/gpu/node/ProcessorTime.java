package dev.vamana.tools.gpu.node;

import java.lang.management.ManagementFactory;

/** What this process has used of the processors. */
public final class ProcessorTime {

  private ProcessorTime() {}

  /** Returns the processor time of all threads so far, in nanoseconds. */
  public static long nanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  /** Returns the same in microseconds. */
  public static double micros() {
    return nanos() * 1e-3;
  }
}
