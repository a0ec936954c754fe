package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.VectorSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The comparison as a table of text cells, what a reader must know beside it, and the demo's last
 * line.
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
              format("%.0f", index.single().perSecond()),
              format("%.0f", index.eight().perSecond()),
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
    List<List<String>> all = new ArrayList<>(rows);
    all.add(0, header);
    List<String> lines = new ArrayList<>();
    for (List<String> row : all) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = all.stream().mapToInt(each -> each.get(column).length()).max().orElseThrow();
        boolean left = i == 0 || i == row.size() - 1;
        line.append(format((left ? "%-" : "%") + width + "s  ", row.get(i)));
      }
      lines.add(line.toString().stripTrailing());
    }
    return lines;
  }

  /**
   * How the figures were taken.
   *
   * @param distances whether the stock index has native distance functions
   */
  static List<String> notes(int cores, boolean distances) {
    return List.of(
        format(
            "k 10, num_candidates %d, one shard, one segment, both indices warm and asked in turn;"
                + " a latency is the time that one client waits over HTTP; clients and node share %d"
                + " core%s.",
            Figures.NUM_CANDIDATES, cores, cores == 1 ? "" : "s"),
        "The node is assembled from Maven Central, which lacks Elasticsearch's native distance"
            + " functions. "
            + (distances
                ? "The stock index has functions written in their place (src/tools/libvec)."
                : "There is no g++ to compile their substitute (src/tools/libvec), which"
                    + " handicaps the stock index: a distribution's answers faster than this one."));
  }

  /**
   * The demo's last line.
   *
   * @param figures of each row; ours first, the stock index last; with a GPU, the second row is our
   *     index without it
   * @param wantedRecall the least recall of our index for which the demo succeeds
   * @param seconds since the demo's start
   */
  static String summary(List<Figures> figures, VectorSet set, double wantedRecall, double seconds) {
    Figures ours = figures.get(0);
    Figures stock = figures.get(figures.size() - 1);
    Figures off = figures.size() == 3 ? figures.get(1) : null;
    return format(
            "demo: %s recall@10 %.4f at num_candidates %d (wanted %.2f, stock %.4f); answered by"
                + " %s;",
            ours.recall() >= wantedRecall ? "ok" : "FAILED",
            ours.recall(),
            Figures.NUM_CANDIDATES,
            wantedRecall,
            stock.recall(),
            ours.answeredBy())
        + format(
            " p50 %.2f ms, p99 %.2f ms (%sstock %.2f, %.2f);",
            ours.p50Millis(),
            ours.p99Millis(),
            off == null ? "" : format("GPU off %.2f, %.2f; ", off.p50Millis(), off.p99Millis()),
            stock.p50Millis(),
            stock.p99Millis())
        + format(
            " %.0f queries/s with 1 client, %.0f with %d (%sstock %.0f, %.0f);",
            ours.single().perSecond(),
            ours.eight().perSecond(),
            Measurement.CLIENTS,
            off == null
                ? ""
                : format("GPU off %.0f, %.0f; ", off.single().perSecond(), off.eight().perSecond()),
            stock.single().perSecond(),
            stock.eight().perSecond())
        + format(
            " index time %.1f s, size %.1f MB (stock %.1f, %.1f); %d vectors of %d dimensions;"
                + " %.0f s in all",
            ours.indexSeconds(),
            ours.megabytes(),
            stock.indexSeconds(),
            stock.megabytes(),
            set.base().size(),
            set.dimension(),
            seconds);
  }

  private static String format(String pattern, Object... arguments) {
    return String.format(Locale.ROOT, pattern, arguments);
  }
}
