package dev.vamana.tools.cells;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The table of cells as Markdown and the measured points as CSV. */
final class CellTable {

  private CellTable() {}

  /**
   * A Markdown table of ratios, with a sentence on the machine above it.
   *
   * @param stock name of the stock index's type, such as {@code hnsw}
   * @param machine processor, cores and system in one sentence
   */
  static String markdown(List<Cell> cells, String stock, String machine) {
    StringBuilder page = new StringBuilder(machine).append("\n\n");
    page.append("| set | vectors | dimension | segments | clients |");
    Cell.RECALLS.forEach(recall -> page.append(text(" recall %.2f |", recall)));
    page.append(" cheapest search |\n| --- | ---: | ---: | ---: | ---: |");
    Cell.RECALLS.forEach(recall -> page.append(" ---: |"));
    page.append(" ---: |\n");
    for (Cell cell : cells) {
      page.append(
          text(
              "| %s | %,d | %,d | %d | %d |",
              cell.set(), cell.vectors(), cell.dimension(), cell.segments(), cell.clients()));
      cell.comparisons()
          .forEach(comparison -> page.append(' ').append(ratio(comparison)).append(" |"));
      page.append(' ').append(cheapest(cell)).append(" |\n");
    }
    List<Comparison> all = cells.stream().flatMap(cell -> cell.distinct().stream()).toList();
    page.append(
        text(
            "\nOurs divided by `%s`: geometric mean %.2f, %d of %d figures below %.2f.\n",
            stock,
            mean(all),
            all.stream().filter(Comparison::below).count(),
            all.size(),
            Comparison.RULE));
    return page.toString();
  }

  private static double mean(List<Comparison> all) {
    return all.isEmpty()
        ? Double.NaN
        : GeometricMean.of(all.stream().map(Comparison::ratio).toList());
  }

  private static String ratio(Comparison comparison) {
    if (Double.isNaN(comparison.ratio())) {
      return Double.isNaN(comparison.ours()) && Double.isNaN(comparison.stock())
          ? "-"
          : Double.isNaN(comparison.ours()) ? "only stock" : "only ours";
    }
    String ratio = text(comparison.below() ? "**%.2f**" : "%.2f", comparison.ratio());
    return comparison.raised() ? ratio + text(" (at %.3f)", comparison.recall()) : ratio;
  }

  private static String cheapest(Cell cell) {
    Curve.Point ours = cell.ours().cheapest();
    Curve.Point stock = cell.stock().cheapest();
    return text(
        "%.2f (%.3f, %.3f)", ours.perSecond() / stock.perSecond(), ours.recall(), stock.recall());
  }

  /** The points of all curves, a line each. */
  static List<String> csv(List<Cell> cells, String stock) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "set,vectors,dimension,segments,clients,index,num_candidates,recall_at_10,requests_per_s");
    for (Cell cell : cells) {
      append(lines, cell, "vamana", cell.ours());
      append(lines, cell, stock, cell.stock());
    }
    return lines;
  }

  private static void append(List<String> lines, Cell cell, String index, Curve curve) {
    for (Curve.Point point : curve.points()) {
      lines.add(
          text(
              "%s,%d,%d,%d,%d,%s,%d,%.4f,%.1f",
              cell.set(),
              cell.vectors(),
              cell.dimension(),
              cell.segments(),
              cell.clients(),
              index,
              point.numCandidates(),
              point.recall(),
              point.perSecond()));
    }
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
