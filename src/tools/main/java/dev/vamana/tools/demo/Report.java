package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.plot.Axis;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.tools.plot.Scale;
import dev.vamana.tools.plot.Series;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** The page {@code report.html}, which needs no other file and no network. */
final class Report {

  private static final int SHOWN_QUERIES = 12;

  private static final String STYLE =
      """
      body { font: 15px/1.5 sans-serif; color: #222; max-width: 68rem; margin: 2rem auto;
        padding: 0 1rem }
      table { border-collapse: collapse; margin: 1rem 0 }
      th, td { padding: .3rem .8rem; border-bottom: 1px solid #ddd; text-align: right }
      th:first-child, td:first-child { text-align: left }
      .note { color: #555; max-width: 52rem }
      .pictures td { padding: .15rem .3rem; text-align: left; border: 0; white-space: nowrap }
      .pictures tr.last td { border-bottom: 1px solid #ddd }
      .pictures img { width: 48px; height: 48px; image-rendering: pixelated; margin: 1px;
        border: 3px solid transparent }
      .pictures img.wrong { border-color: #D55E00 }
      figure { margin: 1rem 0 } svg { max-width: 100%; height: auto }
      """;

  private final DemoSet set;
  private final List<Figures> figures;
  private final String machine;
  private final List<String> notes;

  /**
   * A report of finished measurements.
   *
   * @param figures of each index, ours first
   * @param machine what it was measured on, one sentence
   * @param notes what a reader must know beside the table
   */
  Report(DemoSet set, List<Figures> figures, String machine, List<String> notes) {
    this.set = set;
    this.figures = figures;
    this.machine = machine;
    this.notes = notes;
  }

  /** The page. */
  String html() {
    StringBuilder page = new StringBuilder(1 << 18);
    page.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    page.append("<title>elasticsearch-vamana demo</title>\n<style>\n").append(STYLE);
    page.append("</style></head><body>\n<h1>elasticsearch-vamana demo</h1>\n");
    VectorSet vectors = set.vectors();
    paragraph(
        page,
        String.format(
            Locale.ROOT,
            "%s. %,d queries, metric %s; answers compared with the exact 10 nearest neighbours.",
            capitalized(set.description()),
            vectors.queries().size(),
            vectors.metric().label()));
    paragraph(page, machine);
    appendTable(page);
    for (String note : notes) {
      page.append("<p class=\"note\">").append(escape(note)).append("</p>\n");
    }
    page.append("<h2>Recall and latency</h2>\n<figure>\n").append(plot().toSvg());
    page.append("<figcaption class=\"note\">Numbers at the points are num_candidates. One client");
    page.append(" asks all rows in turn, each of ").append(vectors.queries().size());
    page.append(" queries at each point, in random order. Lower and further right is better. ");
    page.append(escape(machine)).append("</figcaption></figure>\n");
    if (set.images()) {
      appendPictures(page);
    }
    return page.append("</body></html>\n").toString();
  }

  private void appendTable(StringBuilder page) {
    ResultTable table = ResultTable.of(figures);
    page.append("<table><thead>");
    appendRow(page, "th", table.header());
    page.append("</thead><tbody>");
    table.rows().forEach(row -> appendRow(page, "td", row));
    page.append("</tbody></table>\n");
  }

  private static void appendRow(StringBuilder page, String element, List<String> cells) {
    page.append("<tr>");
    for (String cell : cells) {
      page.append('<').append(element).append('>').append(escape(cell));
      page.append("</").append(element).append('>');
    }
    page.append("</tr>\n");
  }

  private LinePlot plot() {
    double lowest = points(Figures.Point::recall).min().orElseThrow();
    double slowest = points(Figures.Point::p50Millis).max().orElseThrow();
    LinePlot plot =
        new LinePlot(
            "recall@10 and median latency",
            new Axis(
                "recall@10: share of the exact 10 nearest neighbours that are found",
                Scale.NEAR_ONE,
                // room for the first marker
                Math.max(0, 1 - 1.25 * Math.max(1 - lowest, 0.001)),
                1.01),
            new Axis("median latency of one client, ms", Scale.LINEAR, 0, 1.12 * slowest));
    for (Figures row : figures) {
      List<Figures.Point> points = row.sweep();
      plot.add(
          new Series(
              row.label(),
              points.stream().mapToDouble(Figures.Point::recall).toArray(),
              points.stream().mapToDouble(Figures.Point::p50Millis).toArray(),
              points.stream()
                  .map(
                      point ->
                          String.format(
                              Locale.ROOT,
                              "num_candidates %d, p99 %.2f ms",
                              point.numCandidates(),
                              point.p99Millis()))
                  .toArray(String[]::new),
              points.stream()
                  .map(point -> Integer.toString(point.numCandidates()))
                  .toArray(String[]::new)));
    }
    return plot;
  }

  private DoubleStream points(ToDoubleFunction<Figures.Point> value) {
    return figures.stream().flatMap(row -> row.sweep().stream()).mapToDouble(value);
  }

  private void appendPictures(StringBuilder page) {
    VectorSet vectors = set.vectors();
    float[][] base = vectors.base().rows();
    float[][] queries = vectors.queries().rows();
    Pictures pictures = new Pictures(Arrays.copyOf(base, Math.min(base.length, 1000)));
    Figures ours = figures.get(0);
    page.append("<h2>Queries and their neighbours</h2>\n<p class=\"note\">To the right of each");
    page.append(" query the answer of ").append(escape(ours.label()));
    page.append(" at num_candidates ").append(Figures.NUM_CANDIDATES);
    page.append(", nearest first, and under it the exact answer. An orange frame marks a hit");
    page.append(" that is not among the exact ten.</p>\n<table class=\"pictures\">\n");
    int k = Math.min(Measurement.K, base.length);
    Recall recall = new Recall(vectors, k);
    int shown = Math.min(SHOWN_QUERIES, queries.length);
    for (int i = 0; i < shown; i++) {
      int q = (int) ((long) i * queries.length / shown);
      page.append("<tr><td rowspan=\"2\">query ").append(q).append("<br>");
      appendImage(page, pictures.dataUri(queries[q]), true);
      page.append("</td><td>answer</td><td>");
      for (int ordinal : ours.point().hits()[q]) {
        boolean right = recall.hits(q, new int[] {ordinal}) == 1;
        appendImage(page, pictures.dataUri(base[ordinal]), right);
      }
      page.append("</td></tr>\n<tr class=\"last\"><td>exact</td><td>");
      int[] exact = vectors.groundTruth().ordinals()[q];
      for (int rank = 0; rank < k; rank++) {
        appendImage(page, pictures.dataUri(base[exact[rank]]), true);
      }
      page.append("</td></tr>\n");
    }
    page.append("</table>\n");
  }

  private static void appendImage(StringBuilder page, String uri, boolean right) {
    page.append(right ? "<img alt=\"\" src=\"" : "<img alt=\"wrong\" class=\"wrong\" src=\"");
    page.append(uri).append("\">");
  }

  private static void paragraph(StringBuilder page, String text) {
    page.append("<p>").append(escape(text)).append("</p>\n");
  }

  private static String capitalized(String text) {
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
