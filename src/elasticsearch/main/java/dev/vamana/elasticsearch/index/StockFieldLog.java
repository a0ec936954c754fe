package dev.vamana.elasticsearch.index;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/** Logs once per field why an opted-in index keeps the stock format for it. */
final class StockFieldLog {
  private static final Logger logger = LogManager.getLogger(StockFieldLog.class);

  private final String index;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  StockFieldLog(String index) {
    this.index = index;
  }

  void fieldKeepsStockFormat(String field, String reason) {
    if (said.add(field)) {
      logger.warn(
          "[{}] field [{}] keeps the stock vector format although [{}] is set: {}",
          index,
          field,
          VamanaSettings.ENABLED.getKey(),
          reason);
    }
  }

  void codecKeepsStockFormat(String codec) {
    if (said.add("codec " + codec)) {
      logger.warn(
          "[{}] keeps the stock vector format although [{}] is set: codec [{}] does not choose"
              + " a format per field",
          index,
          VamanaSettings.ENABLED.getKey(),
          codec);
    }
  }
}
