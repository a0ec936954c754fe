package dev.vamana.tools.demo;

import java.util.List;
import java.util.Locale;

/**
 * The demo's last line.
 *
 * @param figures of each row; ours first, the stock index last
 * @param wantedRecall the least recall of our index for which the demo succeeds
 * @param seconds since the demo's start
 */
record Summary(List<Figures> figures, DemoSet set, double wantedRecall, double seconds) {

  String line() {
    Figures ours = figures.get(0);
    Figures stock = figures.get(figures.size() - 1);
    StringBuilder line = new StringBuilder();
    append(
        line,
        "demo: %s recall@10 %.4f at num_candidates %d (wanted %.2f, stock %.4f);",
        ours.recall() >= wantedRecall ? "ok" : "FAILED",
        ours.recall(),
        Figures.NUM_CANDIDATES,
        wantedRecall,
        stock.recall());
    append(line, " answered by %s;", ours.answeredBy());
    append(
        line,
        " p50 %.2f ms, p99 %.2f ms (%sstock %.2f, %.2f);",
        ours.p50Millis(),
        ours.p99Millis(),
        // with a GPU, the second row is our index without it
        figures.size() == 3
            ? format("GPU off %.2f, %.2f; ", figures.get(1).p50Millis(), figures.get(1).p99Millis())
            : "",
        stock.p50Millis(),
        stock.p99Millis());
    append(
        line,
        " %.0f queries/s with 1 client, %.0f with %d (%sstock %.0f, %.0f);",
        ours.single().queriesPerSecond(),
        ours.eight().queriesPerSecond(),
        Measurement.CLIENTS,
        figures.size() == 3
            ? format(
                "GPU off %.0f, %.0f; ",
                figures.get(1).single().queriesPerSecond(),
                figures.get(1).eight().queriesPerSecond())
            : "",
        stock.single().queriesPerSecond(),
        stock.eight().queriesPerSecond());
    append(
        line,
        " index time %.1f s, size %.1f MB (stock %.1f, %.1f);"
            + " %d vectors of %d dimensions; %.0f s in all",
        ours.indexSeconds(),
        ours.megabytes(),
        stock.indexSeconds(),
        stock.megabytes(),
        set.vectors().base().size(),
        set.vectors().dimension(),
        seconds);
    return line.toString();
  }

  private static void append(StringBuilder line, String format, Object... values) {
    line.append(format(format, values));
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
