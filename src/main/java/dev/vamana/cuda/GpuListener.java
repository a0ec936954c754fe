package dev.vamana.cuda;

import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;

/** Told of what an operator should know. Called by any thread; must not block. */
public interface GpuListener {

  /**
   * The CPU answered an item because something went wrong. Called once a reason.
   *
   * @param detail what went wrong
   */
  void fallback(FallbackReason reason, String detail);

  /**
   * The context was lost.
   *
   * @param retryMillis in how many milliseconds a new one is tried
   */
  void lost(GpuException cause, long retryMillis);

  /** A new context could not be had. */
  void stillLost(GpuException cause, long retryMillis);

  /** A new context has been opened. */
  void recovered(DeviceInfo device);

  /**
   * The driver refused a way to place a segment, for instance to register its mapped file. Another
   * placement may be taken instead.
   */
  default void refused(String segment, GpuException cause) {}

  /** A segment could not be brought to the device and is searched on the CPU. */
  default void uploadFailed(String segment, Throwable cause) {}
}
