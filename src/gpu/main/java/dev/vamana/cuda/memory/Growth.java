package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.GpuException;
import java.util.function.LongConsumer;

/**
 * The rule by which buffers grow: to twice their size, or by {@value #MOST_AHEAD} bytes if that is
 * less, since each growth waits for the device. Where there is no room for so many bytes, a buffer
 * gets the wanted bytes alone.
 */
final class Growth {

  /** Most bytes that a growth allocates beyond the wanted bytes. */
  private static final long MOST_AHEAD = 64L << 20;

  private Growth() {}

  /**
   * Frees a buffer and allocates a larger one.
   *
   * @param held bytes of the buffer before
   * @param wanted least bytes of the new buffer
   * @param granularity the wanted bytes are rounded up to a multiple of it
   * @param free frees the buffer before
   * @param ahead allocates more than the wanted bytes
   * @param least allocates no more than the wanted bytes
   * @throws GpuException if there is no room for the wanted bytes
   */
  static void grow(
      long held,
      long wanted,
      long granularity,
      Runnable free,
      LongConsumer ahead,
      LongConsumer least) {
    long bytes = (wanted + granularity - 1) / granularity * granularity;
    long more = held + Math.min(held, MOST_AHEAD);
    free.run();
    if (more > bytes) {
      try {
        ahead.accept(more);
        return;
      } catch (GpuException e) {
        if (e.kind() != GpuException.Kind.OUT_OF_MEMORY) {
          throw e;
        }
      }
    }
    least.accept(bytes);
  }
}
