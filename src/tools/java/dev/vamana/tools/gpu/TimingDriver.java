package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/**
 * Forwards all calls, and on request waits for each launch and adds up its time by kernel. The
 * times include the launch itself, some ten microseconds.
 */
final class TimingDriver extends ForwardingDriver {

  private Map<String, Double> millis;

  TimingDriver(CudaDriver driver) {
    super(driver);
  }

  /** Starts adding up. */
  synchronized void start() {
    millis = new TreeMap<>();
  }

  /** Stops adding up, and returns the milliseconds of each kernel since {@link #start}. */
  synchronized Map<String, Double> stop() {
    Map<String, Double> sums = millis;
    millis = null;
    return sums;
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    boolean timed;
    synchronized (this) {
      timed = millis != null;
    }
    if (timed == false) {
      super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
      return;
    }
    synchronize(stream);
    long start = System.nanoTime();
    super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
    synchronize(stream);
    double elapsed = (System.nanoTime() - start) * 1e-6;
    synchronized (this) {
      millis.merge(kernel.name(), elapsed, Double::sum);
    }
  }
}
