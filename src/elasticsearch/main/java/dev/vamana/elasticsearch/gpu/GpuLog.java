package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.search.SegmentView;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.lucene.index.CorruptIndexException;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/** Logs events of the GPU. */
final class GpuLog implements GpuListener {
  private static final Logger logger = LogManager.getLogger(GpuLog.class);

  private static final String GPU = "gpu";

  private final DamagedFiles damaged;
  private final String gpu;
  private final Runnable changed;
  private final AtomicBoolean refused = new AtomicBoolean();
  private final AtomicBoolean failed = new AtomicBoolean();

  GpuLog(DamagedFiles damaged) {
    this(damaged, GPU, () -> {});
  }

  /**
   * Makes a listener of one of several devices.
   *
   * @param ordinal number of the device, which the log names
   * @param changed run when the device is lost or comes back
   */
  GpuLog(DamagedFiles damaged, int ordinal, Runnable changed) {
    this(damaged, GPU + " " + ordinal, changed);
  }

  private GpuLog(DamagedFiles damaged, String gpu, Runnable changed) {
    this.damaged = damaged;
    this.gpu = gpu;
    this.changed = changed;
  }

  @Override
  public void fallback(FallbackReason reason, String detail) {
    logger.warn(
        "the CPU answers searches that the GPU could not: {}, {} (logged once per reason;"
            + " GET /_vamana/nodes/stats has the counts)",
        reason.statisticsName(),
        detail);
  }

  @Override
  public void lost(GpuException cause, long retryMillis) {
    logger.warn(
        "[{}] the GPU's context is lost, the CPU answers its searches; next attempt in {} ms: {}",
        gpu,
        retryMillis,
        cause.getMessage());
    changed.run();
  }

  @Override
  public void stillLost(GpuException cause, long retryMillis) {
    logger.info(
        "the GPU cannot be used yet; next attempt in {} ms: {}", retryMillis, cause.getMessage());
  }

  @Override
  public void unanswered(Throwable cause) {
    logger.warn("[{}] the GPU did not answer the self-test; it stays in use: {}", gpu, cause);
  }

  @Override
  public void recovered(DeviceInfo device) {
    logger.info("the GPU [{}] answers again", device.name());
    changed.run();
  }

  @Override
  public void refused(String segment, GpuException cause) {
    if (refused.compareAndSet(false, true)) {
      logger.warn(
          "the driver refused a placement of {}, trying others: {} (logged once;"
              + " GET /_vamana/nodes/stats has the counts)",
          segment,
          cause.getMessage());
    }
  }

  @Override
  public void uploadFailed(String segment, Throwable cause) {
    if (failed.compareAndSet(false, true)) {
      logger.warn(
          "{} cannot be uploaded to the GPU and is searched on the CPU: {} (logged once;"
              + " GET /_vamana/nodes/stats has the counts)",
          segment,
          cause);
    }
  }

  @Override
  public void damaged(SegmentView segment, CorruptIndexException cause) {
    damaged.found(segment, cause);
  }
}
