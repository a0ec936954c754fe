package dev.vamana.cuda;

import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import org.apache.lucene.index.CorruptIndexException;

/**
 * Writes the events of a {@link GpuListener} to the platform's log, for embedders without a log of
 * their own.
 */
public final class LoggingListener implements GpuListener {

  private final Logger logger = System.getLogger("dev.vamana.cuda");

  @Override
  public void fallback(FallbackReason reason, String detail) {
    logger.log(
        Level.WARNING,
        "the CPU answers what the GPU could not ({0}: {1}); logged once for each reason",
        reason.statisticsName(),
        detail);
  }

  @Override
  public void damaged(String segment, CorruptIndexException cause) {
    logger.log(
        Level.ERROR,
        "{0} has a damaged file and is not searched on the GPU: {1}",
        segment,
        cause.getMessage());
  }

  @Override
  public void lost(GpuException cause, long retryMillis) {
    logger.log(
        Level.WARNING,
        "the GPU''s context is lost, the CPU answers; next attempt in {0} ms: {1}",
        retryMillis,
        cause.getMessage());
  }

  @Override
  public void stillLost(GpuException cause, long retryMillis) {
    logger.log(
        Level.INFO,
        "the GPU cannot be used yet; next attempt in {0} ms: {1}",
        retryMillis,
        cause.getMessage());
  }

  @Override
  public void recovered(DeviceInfo device) {
    logger.log(Level.INFO, "the GPU {0} is back", device.name());
  }
}
