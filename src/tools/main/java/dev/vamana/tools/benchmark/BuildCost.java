package dev.vamana.tools.benchmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/**
 * The cost of a build.
 *
 * @param cpuSeconds CPU time of the Java threads that are alive at its end, without compiler and
 *     collector threads
 * @param wallSeconds elapsed time
 */
record BuildCost(double cpuSeconds, double wallSeconds) {

  /** One step of a build, whose threads outlive it. */
  interface Step {
    void run() throws IOException;
  }

  /** Runs a step on the calling thread and measures it. */
  static BuildCost of(Step step) throws IOException {
    long wall = System.nanoTime();
    long cpu = cpuNanos();
    step.run();
    return new BuildCost((cpuNanos() - cpu) * 1e-9, (System.nanoTime() - wall) * 1e-9);
  }

  private static long cpuNanos() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Arrays.stream(threads.getAllThreadIds())
        .map(threads::getThreadCpuTime)
        // a thread that has just ended has none
        .filter(nanos -> nanos > 0)
        .sum();
  }

  /** Returns both costs together. */
  BuildCost and(BuildCost more) {
    return new BuildCost(cpuSeconds + more.cpuSeconds, wallSeconds + more.wallSeconds);
  }
}
