package dev.vamana.tools.benchmark;

import dev.vamana.tools.cells.Curve;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.plot.Axis;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.tools.plot.Scale;
import dev.vamana.tools.plot.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Writes the results of one run as {@code <set>.csv}, {@code <set>.svg} and {@code <set>.md}.
 *
 * @param set the set that was indexed
 * @param indexes the indexes, in the order of the curves
 * @param curves one curve for each index
 * @param conditions machine, load and other conditions, printed below the tables
 */
record Report(VectorSet set, List<BuiltIndex> indexes, List<Curve> curves, String conditions) {
  private static final double[] TARGETS = {0.95, 0.99};
  private static final double PLOT_FROM_RECALL = 0.8;

  void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(set.name() + ".csv"), csv());
    Files.writeString(folder.resolve(set.name() + ".md"), markdown());
    plot().write(folder.resolve(set.name() + ".svg"));
  }

  String csv() {
    StringBuilder csv =
        new StringBuilder("set,method,width,recall_at_10,qps_per_cpu_s,build_cpu_s,bytes\n");
    for (int i = 0; i < indexes.size(); i++) {
      BuiltIndex index = indexes.get(i);
      for (Curve.Point point : curves.get(i).points()) {
        csv.append(
            format(
                "%s,%s,%d,%.4f,%.1f,%.2f,%d\n",
                set.name(),
                index.name(),
                point.numCandidates(),
                point.recall(),
                point.perSecond(),
                index.cost().cpuSeconds(),
                index.totalBytes()));
      }
    }
    return csv.toString();
  }

  String markdown() {
    StringBuilder text = new StringBuilder();
    text.append(
        format(
            "# %s\n\n%,d vectors of dimension %d, %,d queries, similarity %s, one segment, one"
                + " thread.\n\n",
            set.name(),
            set.base().size(),
            set.dimension(),
            set.queries().size(),
            set.similarity()));
    text.append(speeds()).append('\n').append(builds());
    return text.append('\n').append(conditions).append('\n').toString();
  }

  /** Table of speed at the target recalls and its ratio to the best index of the bar. */
  private String speeds() {
    StringBuilder table = new StringBuilder("Queries per CPU second at a recall@10:\n\n| index |");
    for (double target : TARGETS) {
      table.append(format(" %.2f | to the bar |", target));
    }
    table.append("\n| --- |").append(" ---: | ---: |".repeat(TARGETS.length)).append('\n');
    for (int i = 0; i < curves.size(); i++) {
      table.append("| ").append(indexes.get(i).name()).append(" |");
      Curve.Point cheapest = curves.get(i).cheapest();
      for (double target : TARGETS) {
        double speed = curves.get(i).perSecondAt(target);
        if (Double.isNaN(speed)) {
          table.append(" not reached | |");
          continue;
        }
        table.append(
            cheapest.recall() < target
                ? format(" %,.0f |", speed)
                : format(
                    " %,.0f (width %d: %.4f) |",
                    speed, cheapest.numCandidates(), cheapest.recall()));
        double ratio = speed / bar(target);
        table.append(Double.isNaN(ratio) ? " |" : format(" %.2f |", ratio));
      }
      table.append('\n');
    }
    return table
        .append(
            "\nThe bar is the fastest of Lucene's HNSW and jvector with product quantization at"
                + " that recall. Between\nmeasured widths the logarithm of speed is linear in"
                + " recall; where the smallest width already exceeds\nthe recall, its speed and"
                + " recall are given.\n")
        .toString();
  }

  private double bar(double target) {
    return IntStream.range(0, curves.size())
        .filter(i -> Contenders.isBar(indexes.get(i).name()))
        .mapToDouble(i -> curves.get(i).perSecondAt(target))
        .filter(qps -> !Double.isNaN(qps))
        .max()
        .orElse(Double.NaN);
  }

  private String builds() {
    StringBuilder table =
        new StringBuilder(
            "| index | CPU s | wall s | bytes | by extension |\n"
                + "| --- | ---: | ---: | ---: | --- |\n");
    for (BuiltIndex index : indexes) {
      table.append(
          format(
              "| %s | %.1f | %.1f | %,d | %s |\n",
              index.name(),
              index.cost().cpuSeconds(),
              index.cost().wallSeconds(),
              index.totalBytes(),
              index.bytes().entrySet().stream()
                  .map(entry -> format("%s %,d", entry.getKey(), entry.getValue()))
                  .collect(Collectors.joining(", "))));
    }
    return table.toString();
  }

  LinePlot plot() {
    double lowest =
        curves.stream()
            .flatMap(curve -> curve.points().stream())
            .mapToDouble(Curve.Point::recall)
            .min()
            .getAsDouble();
    LinePlot plot =
        new LinePlot(
            format("%s: %,d x %d", set.name(), set.base().size(), set.dimension()),
            new Axis(
                "recall@10",
                Scale.NEAR_ONE,
                Math.max(PLOT_FROM_RECALL, Math.floor(lowest * 20) / 20),
                1.01),
            Axis.of("queries per CPU second, one thread", Scale.LOG));
    for (int i = 0; i < curves.size(); i++) {
      List<Curve.Point> points = curves.get(i).points();
      plot.add(
          new Series(
              indexes.get(i).name(),
              points.stream().mapToDouble(Curve.Point::recall).toArray(),
              points.stream().mapToDouble(Curve.Point::perSecond).toArray(),
              points.stream()
                  .map(point -> "width " + point.numCandidates())
                  .toArray(String[]::new)));
    }
    return plot;
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
