package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.monitor.NodeNotices;
import dev.vamana.elasticsearch.monitor.NoticeKind;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Logs once per field why an opted-in index keeps the stock format for it, and records the reason
 * for the statistics.
 */
final class StockFieldNotices {
  private static final Logger logger = LogManager.getLogger(StockFieldNotices.class);

  private final String index;
  private final NodeNotices notices;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  StockFieldNotices(String index, NodeNotices notices) {
    this.index = index;
    this.notices = notices;
  }

  void fieldKeepsStockFormat(String field, String reason) {
    if (said.add(field)) {
      notices.add(NoticeKind.STOCK_FIELD, index + "/" + field, reason);
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
      notices.add(
          NoticeKind.STOCK_INDEX,
          index,
          "codec [" + codec + "] does not choose a format per field");
      logger.warn(
          "[{}] keeps the stock vector format although [{}] is set: codec [{}] does not choose"
              + " a format per field",
          index,
          VamanaSettings.ENABLED.getKey(),
          codec);
    }
  }
}
