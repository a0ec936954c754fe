package dev.vamana.tools.gpu;

import dev.vamana.tools.cells.Comparison;
import dev.vamana.tools.cells.Curve;
import dev.vamana.tools.gpu.node.CellTrial;
import dev.vamana.tools.gpu.node.NodeParts;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Compares standard searches of a node, over HTTP and at equal recall, with the stock index: by
 * number of segments and of clients, with the GPU and without. Needs the suite's part {@code node}.
 *
 * <p>A cell that was measured by an earlier run with the same sources is left out.
 */
final class CellsStage implements Stage {

  /** Section of the report with a row for each comparison. */
  static final String SECTION = "cells";

  /** Section of the report with the measured points. */
  static final String POINTS = "cell_points";

  /**
   * Column of what each start of the nodes has measured, if there were several: requests a second
   * of a point, ratios of a comparison.
   */
  static final String BY_START = "by_start";

  /** In place of the index of a start. */
  private static final int ALL = -1;

  private final String setName;

  CellsStage(String setName) {
    this.setName = setName;
  }

  /**
   * Two curves to compare, measured in the same node unless one of them is the GPU's and the other
   * the CPU's.
   */
  private record Pair(String method, String mode, String other, String otherMode) {}

  @Override
  public void run(Context context) throws IOException {
    SuiteOptions options = context.options();
    SuiteSet set = SuiteSet.load(options, setName);
    String placement = options.placements().isEmpty() ? "auto" : options.placements().get(0);
    String mode = options.device() < 0 ? NodeParts.OFF : placement;
    new CellTrial(
            new CellTrial.Plan(
                NodeStage.parts(options, set),
                set.vectors(),
                mode,
                options.methods(),
                options.segmentCounts(),
                options.clients(),
                options.seconds(),
                options.starts()),
            new IntoFragment(context, set, mode))
        .run();
  }

  private record IntoFragment(Context context, SuiteSet set, String mode)
      implements CellTrial.Findings {

    @Override
    public boolean has(String method, String measuredIn, int segments, int clients) {
      return points(method, measuredIn, segments, clients, ALL).isEmpty() == false;
    }

    @Override
    public void measured(CellTrial.Point point) throws IOException {
      Map<String, Object> row = row(point.segments(), point.clients());
      row.put("method", point.method());
      row.put("placement", point.mode());
      row.put("beam", point.numCandidates());
      row.put("recall", Samples.round(point.recall(), 5));
      row.put("requests_per_second", Samples.round(point.requestsPerSecond(), 1));
      if (point.perSecond().size() > 1) {
        row.put(BY_START, point.perSecond().stream().map(of -> Samples.round(of, 1)).toList());
      }
      row.put("p50_us", Samples.round(point.p50Micros(), 1));
      row.put("clients_us", Samples.round(point.clientMicros(), 1));
      if (point.answered().isEmpty() == false) {
        row.put("answered", point.answered());
      }
      context.fragment().add(POINTS, row);
      context.say("  %s", row);
    }

    @Override
    public void done(int segments, int clients) throws IOException {
      for (Pair pair : pairs()) {
        for (double target : CellTrial.RECALLS) {
          Comparison found = compare(pair, segments, clients, target, ALL);
          if (Double.isNaN(found.ratio()) == false) {
            compared(pair, segments, clients, found);
          }
        }
      }
      context.say("%s", CellsPage.summary(Fragment.rows(context.fragment().content(), SECTION)));
    }

    private void compared(Pair pair, int segments, int clients, Comparison found)
        throws IOException {
      Map<String, Object> row = row(segments, clients);
      row.put("target", found.wanted());
      row.put("method", pair.method());
      row.put("variant", "over " + pair.other());
      row.put("recall", Samples.round(found.recall(), 5));
      row.put("requests_per_second", Samples.round(found.ours(), 1));
      row.put("others_per_second", Samples.round(found.stock(), 1));
      row.put("ratio", Samples.round(found.ratio(), 3));
      List<Double> ratios =
          IntStream.range(0, context.options().starts())
              .mapToDouble(start -> compare(pair, segments, clients, found.wanted(), start).ratio())
              .filter(Double::isFinite)
              .mapToObj(ratio -> Samples.round(ratio, 3))
              .toList();
      if (ratios.isEmpty() == false) {
        row.put(BY_START, ratios);
      }
      context.fragment().add(SECTION, row);
      context.say(
          "%s, %d segments, %d clients, recall %.3f: %s %.0f/s over %s %.0f/s: %.2f %s%s",
          set.vectors().name(),
          segments,
          clients,
          found.recall(),
          pair.method(),
          found.ours(),
          pair.other(),
          found.stock(),
          found.ratio(),
          ratios,
          found.ratio() < Comparison.RULE ? " BELOW" : "");
    }

    /** Compares a pair in one start, or in all; the ratio is NaN where one has no points. */
    private Comparison compare(Pair pair, int segments, int clients, double target, int start) {
      List<Curve.Point> ours = points(pair.method(), pair.mode(), segments, clients, start);
      List<Curve.Point> theirs = points(pair.other(), pair.otherMode(), segments, clients, start);
      return ours.isEmpty() || theirs.isEmpty()
          ? new Comparison(target, target, Double.NaN, Double.NaN)
          : Comparison.of(new Curve(ours), new Curve(theirs), target);
    }

    private static boolean has(Map<String, Object> row, int start) {
      return start == ALL || (row.get(BY_START) instanceof List<?> of && start < of.size());
    }

    private static double perSecond(Map<String, Object> row, int start) {
      return start == ALL
          ? ReportTables.real(row, "requests_per_second")
          : ((Number) ((List<?>) row.get(BY_START)).get(start)).doubleValue();
    }

    private List<Pair> pairs() {
      String off = NodeParts.OFF;
      List<Pair> stock =
          List.of(
              new Pair(CellTrial.CPU, off, CellTrial.STOCK, off),
              new Pair(CellTrial.CPU, off, CellTrial.INT8, mode));
      if (mode.equals(off)) {
        return stock;
      }
      return List.of(
          new Pair(CellTrial.GPU, mode, CellTrial.STOCK, mode),
          new Pair(CellTrial.GPU, mode, CellTrial.INT8, mode),
          new Pair(CellTrial.GPU, mode, CellTrial.CPU, off),
          stock.get(0),
          stock.get(1));
    }

    private List<Curve.Point> points(
        String method, String measuredIn, int segments, int clients, int start) {
      return Fragment.rows(context.fragment().content(), POINTS).stream()
          .filter(
              row ->
                  row.get("set").equals(set.vectors().name())
                      && ReportTables.number(row, "n") == set.vectors().base().size()
                      && row.get("method").equals(method)
                      && row.get("placement").equals(measuredIn)
                      && ReportTables.number(row, "segments") == segments
                      && ReportTables.number(row, "callers") == clients
                      && has(row, start))
          .map(
              row ->
                  new Curve.Point(
                      ReportTables.number(row, "beam"),
                      ReportTables.real(row, "recall"),
                      perSecond(row, start)))
          .toList();
    }

    private Map<String, Object> row(int segments, int clients) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("n", set.vectors().base().size());
      row.put("dims", set.vectors().dimension());
      row.put("segments", segments);
      row.put("callers", clients);
      return row;
    }

    @Override
    public void say(String format, Object... values) {
      context.say(format, values);
    }
  }
}
