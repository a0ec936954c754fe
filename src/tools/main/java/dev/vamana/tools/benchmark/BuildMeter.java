package dev.vamana.tools.benchmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures CPU time and peak heap of one step of a build.
 *
 * <p>A separate thread reads the CPU time of every other Java thread every {@value
 * #CPU_INTERVAL_MS} ms, so that a thread which ends during the step is counted up to its last
 * reading. Every {@value #HEAP_INTERVAL_MS} ms it collects garbage and reads the used heap; without
 * the collection the reading would depend more on the collector than on the build. A shorter peak
 * can be missed.
 */
final class BuildMeter implements AutoCloseable {
  private static final long CPU_INTERVAL_MS = 20;
  private static final long HEAP_INTERVAL_MS = 2_000;

  /** One step of a build. */
  interface Step<T> {
    T run() throws IOException;
  }

  /** Result and cost of a step. */
  record Measured<T>(T result, BuildCost cost) {}

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
  private final Map<Long, Long> cpuAtStart = new HashMap<>();
  private final Map<Long, Long> cpuLast = new HashMap<>();
  private final Thread sampler = new Thread(this::sample, "build-meter");
  private final long heapAtStart;
  private final long wallAtStart;
  private long heapPeak;
  private volatile boolean done;

  private BuildMeter() {
    heapAtStart = liveHeap();
    heapPeak = heapAtStart;
    readCpu(cpuAtStart);
    wallAtStart = System.nanoTime();
    sampler.setDaemon(true);
    sampler.start();
  }

  /** Runs a step on the calling thread and measures it. */
  static <T> Measured<T> measure(Step<T> step) throws IOException {
    try (BuildMeter meter = new BuildMeter()) {
      T result = step.run();
      return new Measured<>(result, meter.stop());
    }
  }

  private BuildCost stop() {
    double wallSeconds = (System.nanoTime() - wallAtStart) * 1e-9;
    close();
    readCpu(cpuLast);
    long cpu = 0;
    for (Map.Entry<Long, Long> last : cpuLast.entrySet()) {
      if (last.getKey() != sampler.threadId()) {
        cpu += last.getValue() - cpuAtStart.getOrDefault(last.getKey(), 0L);
      }
    }
    // the peak is often at the end, in the result of the step
    heapPeak = Math.max(heapPeak, liveHeap());
    return new BuildCost(cpu * 1e-9, wallSeconds, (heapPeak - heapAtStart) / (double) (1 << 20));
  }

  @Override
  public void close() {
    done = true;
    LockSupport.unpark(sampler);
    boolean interrupted = false;
    while (sampler.isAlive()) {
      try {
        sampler.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void sample() {
    long nextHeap = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HEAP_INTERVAL_MS);
    while (!done) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(CPU_INTERVAL_MS));
      readCpu(cpuLast);
      if (System.nanoTime() >= nextHeap) {
        heapPeak = Math.max(heapPeak, liveHeap());
        nextHeap = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HEAP_INTERVAL_MS);
      }
    }
  }

  private void readCpu(Map<Long, Long> into) {
    for (long id : threads.getAllThreadIds()) {
      long cpu = threads.getThreadCpuTime(id);
      if (cpu >= 0) {
        into.put(id, cpu);
      }
    }
  }

  private long liveHeap() {
    memory.gc();
    return memory.getHeapMemoryUsage().getUsed();
  }
}
