package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.monitor.openmetrics.Exposition;
import dev.vamana.elasticsearch.monitor.openmetrics.Family;
import dev.vamana.elasticsearch.monitor.openmetrics.Labels;
import dev.vamana.elasticsearch.monitor.recall.RecallStats;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** The recall of sampled searches as OpenMetrics. */
final class RecallMetrics {

  private static final Family EVALUATED =
      Family.of(
          Family.Type.COUNTER, "vamana_recall_evaluated", "Searches whose recall was measured.");
  private static final Family TIME =
      new Family(
          "vamana_recall_evaluation_seconds",
          Family.Type.COUNTER,
          "seconds",
          "Time that these measurements took.");
  private static final Family SKIPPED =
      Family.of(
          Family.Type.GAUGE,
          "vamana_recall_skipped",
          "Drawn searches of open shards whose recall was not measured, and why.");
  private static final Family QUERIES =
      Family.of(
          Family.Type.GAUGE, "vamana_recall_queries", "Searches that the recall is the mean of.");
  private static final Family RECALL =
      new Family(
          "vamana_recall_ratio",
          Family.Type.GAUGE,
          "ratio",
          "Mean recall of the searches of a field, from 0 to 1.");
  private static final Family LOW =
      Family.of(
          Family.Type.GAUGE, "vamana_recall_ratio_low", "Lower end of the recall's interval.");
  private static final Family HIGH =
      Family.of(
          Family.Type.GAUGE, "vamana_recall_ratio_high", "Upper end of the recall's interval.");

  private static final int MILLI = 3;
  private static final int DECIMALS = 4;

  private RecallMetrics() {}

  static void add(Exposition exposition, Labels node, RecallStats recall) {
    exposition.add(EVALUATED, node, recall.evaluated());
    exposition.add(TIME, node, BigDecimal.valueOf(recall.workMillis(), MILLI));
    recall
        .skipped()
        .forEach((reason, count) -> exposition.add(SKIPPED, node.and("reason", reason), count));
    for (RecallStats.Row row : recall.rows()) {
      Labels labels =
          node.and("index", row.index())
              .and("field", row.field())
              .and("k", Integer.toString(row.k()))
              .and("num_candidates", Integer.toString(row.numCandidates()));
      exposition.add(QUERIES, labels, row.queries());
      exposition.add(RECALL, labels, rounded(row.recall()));
      exposition.add(LOW, labels, rounded(row.low()));
      exposition.add(HIGH, labels, rounded(row.high()));
    }
  }

  private static BigDecimal rounded(double ratio) {
    return BigDecimal.valueOf(ratio).setScale(DECIMALS, RoundingMode.HALF_UP);
  }
}
