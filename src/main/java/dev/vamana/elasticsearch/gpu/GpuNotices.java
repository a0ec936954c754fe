package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.NodeNotices;
import dev.vamana.elasticsearch.monitor.NoticeKind;
import dev.vamana.search.SegmentView;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.index.CorruptIndexException;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/** Logs events of the GPU and records them as notices for the operator. */
final class GpuNotices implements GpuListener {
  private static final Logger logger = LogManager.getLogger(GpuNotices.class);

  private static final String GPU = "gpu";

  private final NodeNotices notices;
  private final DamagedFiles damaged;
  private final String gpu;
  private final Runnable changed;
  // not from the notices, which may have no room for the first event
  private final Set<NoticeKind> logged = ConcurrentHashMap.newKeySet();

  GpuNotices(NodeNotices notices, DamagedFiles damaged) {
    this(notices, damaged, GPU, () -> {});
  }

  /**
   * Makes a listener of one of several devices.
   *
   * @param ordinal number of the device, which notices and the log name
   * @param changed run when the device is lost or comes back
   */
  GpuNotices(NodeNotices notices, DamagedFiles damaged, int ordinal, Runnable changed) {
    this(notices, damaged, GPU + " " + ordinal, changed);
  }

  private GpuNotices(NodeNotices notices, DamagedFiles damaged, String gpu, Runnable changed) {
    this.notices = notices;
    this.damaged = damaged;
    this.gpu = gpu;
    this.changed = changed;
  }

  @Override
  public void fallback(FallbackReason reason, String detail) {
    notices.add(NoticeKind.GPU_FALLBACK, reason.statisticsName(), detail);
    logger.warn(
        "the CPU answers searches that the GPU could not: {}, {} (logged once per reason;"
            + " GET /_vamana/stats has the counts)",
        reason.statisticsName(),
        detail);
  }

  @Override
  public void lost(GpuException cause, long retryMillis) {
    notices.add(NoticeKind.GPU_LOST, gpu, cause.getMessage());
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
    notices.add(NoticeKind.PLACEMENT_REFUSED, gpu, segment + ": " + cause.getMessage());
    if (logged.add(NoticeKind.PLACEMENT_REFUSED)) {
      logger.warn(
          "the driver refused a placement of {}, trying others: {} (logged once;"
              + " GET /_vamana/stats has the counts)",
          segment,
          cause.getMessage());
    }
  }

  @Override
  public void uploadFailed(String segment, Throwable cause) {
    notices.add(NoticeKind.UPLOAD_FAILED, gpu, segment + ": " + cause);
    if (logged.add(NoticeKind.UPLOAD_FAILED)) {
      logger.warn(
          "{} cannot be uploaded to the GPU and is searched on the CPU: {} (logged once;"
              + " GET /_vamana/stats has the counts)",
          segment,
          cause);
    }
  }

  @Override
  public void damaged(SegmentView segment, CorruptIndexException cause) {
    damaged.found(segment, cause);
  }
}
