package dev.vamana.examples;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.SegmentView;
import java.lang.System.Logger.Level;
import org.apache.lucene.index.CorruptIndexException;

/** Writes what an operator should know of to the platform's log. */
final class LoggingListener implements GpuListener {

  private final System.Logger logger = System.getLogger("search.gpu");

  @Override
  public void fallback(FallbackReason reason, String detail) {
    // called once for each reason
    logger.log(Level.WARNING, "the CPU answers: {0}, {1}", reason.statisticsName(), detail);
  }

  @Override
  public void damaged(SegmentView segment, CorruptIndexException cause) {
    logger.log(Level.ERROR, "{0} is damaged: {1}", segment.name(), cause.getMessage());
  }

  @Override
  public void lost(GpuException cause, long retryMillis) {
    logger.log(Level.WARNING, "no GPU for {0} ms: {1}", retryMillis, cause.getMessage());
  }

  @Override
  public void stillLost(GpuException cause, long retryMillis) {
    logger.log(Level.INFO, "no GPU for {0} ms: {1}", retryMillis, cause.getMessage());
  }

  @Override
  public void recovered(DeviceInfo device) {
    logger.log(Level.INFO, "{0} is back", device.name());
  }
}
