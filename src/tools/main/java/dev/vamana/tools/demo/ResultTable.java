package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The comparison as a table of text cells, and what a reader must know beside it.
 *
 * @param header one cell a column
 * @param rows cells of the indices
 */
record ResultTable(List<String> header, List<List<String>> rows) {

  static ResultTable of(List<Figures> figures) {
    List<List<String>> rows = new ArrayList<>();
    for (Figures index : figures) {
      rows.add(
          List.of(
              index.label(),
              format("%.4f", index.recall()),
              format("%.2f", index.p50Millis()),
              format("%.2f", index.p99Millis()),
              format("%.0f", index.single().queriesPerSecond()),
              format("%.0f", index.eight().queriesPerSecond()),
              format("%.1f", index.indexSeconds()),
              format("%.1f", index.megabytes()),
              format("%d", index.segments()),
              index.answeredBy()));
    }
    return new ResultTable(
        List.of(
            "index",
            "recall@10",
            "p50 ms",
            "p99 ms",
            "queries/s, 1 client",
            "8 clients",
            "index s",
            "size MB",
            "segments",
            "answered by"),
        rows);
  }

  /** The table for a terminal: the first and last column to the left, the others to the right. */
  List<String> lines() {
    int[] widths = new int[header.size()];
    List<List<String>> all = new ArrayList<>(rows);
    all.add(0, header);
    for (List<String> row : all) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    List<String> lines = new ArrayList<>();
    for (List<String> row : all) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < widths.length; i++) {
        boolean last = i == widths.length - 1;
        String pattern = (i == 0 ? "%-" : last ? "  %-" : "  %") + widths[i] + "s";
        line.append(format(pattern, row.get(i)));
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  /** How the figures were taken, and what the assembled node lacks and whom that handicaps. */
  static List<String> notes(Metric metric, int cores) {
    String handicap =
        switch (metric) {
          case L2 ->
              "so the stock index scores l2 through Elasticsearch's Java scorer, which handicaps"
                  + " it: a distribution's stock index answers faster than this one.";
          case COSINE, IP ->
              "so the stock index scores through Java code; with this metric that handicaps it"
                  + " little next to ours, but a distribution's stock index answers faster.";
        };
    return List.of(
        "k 10, num_candidates "
            + Figures.NUM_CANDIDATES
            + ", one shard, one segment, both indices warm and asked in turn; latencies are those"
            + " that one client sees over HTTP; clients and node share "
            + cores
            + (cores == 1 ? " core." : " cores."),
        "The node is assembled from Maven Central, which has no libvec (Elasticsearch's native"
            + " distance functions), "
            + handicap
            + " The benchmark (-Pbenchmark) compares our format with Lucene's HNSW under the same"
            + " scorer.");
  }

  private static String format(String pattern, Object... arguments) {
    return String.format(Locale.ROOT, pattern, arguments);
  }
}
