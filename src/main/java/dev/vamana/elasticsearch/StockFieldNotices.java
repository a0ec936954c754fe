package dev.vamana.elasticsearch;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Says in the log, once for each field of an index, why an opted-in index keeps the stock format.
 */
final class StockFieldNotices {
  private static final Logger logger = LogManager.getLogger(StockFieldNotices.class);

  private final String index;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  StockFieldNotices(String index) {
    this.index = index;
  }

  void fieldKeepsStockFormat(String field, String reason) {
    if (said.add(field)) {
      logger.info(
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
          "[{}] keeps the stock vector format although [{}] is set: codec [{}] has no format for"
              + " each field",
          index,
          VamanaSettings.ENABLED.getKey(),
          codec);
    }
  }
}
