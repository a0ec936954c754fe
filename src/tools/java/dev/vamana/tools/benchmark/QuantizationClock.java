package dev.vamana.tools.benchmark;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.apache.lucene.util.InfoStream;

/**
 * Tells how much of an index build went into product quantization, from the lines that a format
 * writes to Lucene's info stream before and after it. Counts the CPU time of the thread that writes
 * them, which is all of it in a single-threaded build.
 */
final class QuantizationClock extends InfoStream {
  /** Component under which the format reports. */
  static final String COMPONENT = "VAMANA";

  /** How the line before quantization begins. */
  static final String BEGIN = "quantize ";

  /** How the line after quantization begins. */
  static final String END = "quantized ";

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private long cpuNanos;
  private long wallNanos;

  @Override
  public void message(String component, String message) {
    if (message.startsWith(BEGIN)) {
      cpuNanos -= threads.getCurrentThreadCpuTime();
      wallNanos -= System.nanoTime();
    } else if (message.startsWith(END)) {
      cpuNanos += threads.getCurrentThreadCpuTime();
      wallNanos += System.nanoTime();
    }
  }

  @Override
  public boolean isEnabled(String component) {
    return component.equals(COMPONENT);
  }

  /**
   * Splits the cost of a whole build; both parts get its peak heap.
   *
   * @return the cost without quantization, then that of quantization
   */
  BuildCost[] split(BuildCost whole) {
    if (cpuNanos == 0) {
      return new BuildCost[] {whole, BuildCost.NONE};
    }
    double cpu = cpuNanos * 1e-9;
    double wall = wallNanos * 1e-9;
    return new BuildCost[] {
      new BuildCost(whole.cpuSeconds() - cpu, whole.wallSeconds() - wall, whole.peakHeapMb()),
      new BuildCost(cpu, wall, whole.peakHeapMb())
    };
  }

  @Override
  public void close() {}
}
