package dev.vamana.tools.benchmark;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.apache.lucene.util.InfoStream;

/**
 * Measures how much of an index build goes into product quantization. It reads the clock when the
 * format writes its lines before and after quantization to Lucene's info stream. It counts the CPU
 * time of the thread that writes these lines, which is the whole of it in a single-threaded build.
 */
final class QuantizationClock extends InfoStream {
  /** Component of the format's lines on the info stream. */
  static final String COMPONENT = "VAMANA";

  /** Start of the line before quantization. */
  static final String BEGIN = "quantize ";

  /** Start of the line after quantization. */
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
   * Splits the cost of a whole build into the cost without quantization and the cost of
   * quantization. Both parts get the peak heap of the build.
   *
   * @return the cost without quantization, and the cost of quantization
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
