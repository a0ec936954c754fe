package dev.vamana.elasticsearch;

import dev.vamana.cuda.FallbackReason;
import dev.vamana.cuda.GpuListener;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/** Says in the node's log what an operator should know of the GPU. */
final class GpuNotices implements GpuListener {
  private static final Logger logger = LogManager.getLogger(GpuNotices.class);

  @Override
  public void fallback(FallbackReason reason, String detail) {
    logger.warn(
        "the CPU answers what the GPU could not: {}, {} (said once for each reason;"
            + " GET /_vamana/stats counts)",
        reason.statisticsName(),
        detail);
  }

  @Override
  public void lost(GpuException cause, long retryMillis) {
    logger.warn(
        "the GPU's context is lost, the CPU answers; next attempt in {} ms: {}",
        retryMillis,
        cause.getMessage());
  }

  @Override
  public void stillLost(GpuException cause, long retryMillis) {
    logger.info(
        "the GPU cannot be used yet; next attempt in {} ms: {}", retryMillis, cause.getMessage());
  }

  @Override
  public void recovered(DeviceInfo device) {
    logger.info("the GPU [{}] answers again", device.name());
  }
}
