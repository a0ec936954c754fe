package dev.vamana.cuda.api;

import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.SegmentView;
import org.apache.lucene.index.CorruptIndexException;

/**
 * Receives events that an operator should know of. Any thread calls it; implementations must not
 * block.
 */
public interface GpuListener {

  /**
   * Called when the CPU answered an item after a failure, once for each reason.
   *
   * @param detail what went wrong
   */
  void fallback(FallbackReason reason, String detail);

  /**
   * Called when the context is lost.
   *
   * @param retryMillis milliseconds until the next attempt to open one
   */
  void lost(GpuException cause, long retryMillis);

  /** Called when an attempt to open a new context has failed. */
  void stillLost(GpuException cause, long retryMillis);

  /**
   * Called when a device in use did not answer a self-test, right or wrong, for instance because
   * its memory is full. It stays in use.
   */
  default void unanswered(Throwable cause) {}

  /** Called when a new context has been opened. */
  void recovered(DeviceInfo device);

  /**
   * Called when the driver refused a placement of a segment, for instance to register its mapped
   * file. The residency may choose another placement.
   */
  default void refused(String segment, GpuException cause) {}

  /** Called when a segment could not be uploaded; the CPU searches it. */
  default void uploadFailed(String segment, Throwable cause) {}

  /**
   * Called when an upload found that the checksum of a file is wrong. Searches of the segment fail
   * from then on, as long as its reader is open.
   *
   * @param cause has the file's name in its message
   */
  default void damaged(SegmentView segment, CorruptIndexException cause) {}
}
