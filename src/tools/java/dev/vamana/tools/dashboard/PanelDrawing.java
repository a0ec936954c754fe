package dev.vamana.tools.dashboard;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Draws one panel of a dashboard as SVG. */
final class PanelDrawing {
  /** The colours of Okabe and Ito, which remain distinct in colour blindness. */
  private static final String[] COLOURS = {
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"
  };

  private static final int LEFT = 62;
  private static final int RIGHT = 12;
  private static final int TOP = 30;
  private static final int LEGEND_LINE = 15;
  private static final int AXIS = 20;
  private static final int CHARACTER = 7;

  private final StringBuilder svg = new StringBuilder();
  private final int width;
  private final int height;
  private final long from;
  private final long to;

  /** A named line. */
  record Line(String name, NavigableMap<Long, Double> values) {}

  PanelDrawing(String title, int width, int height, long from, long to) {
    this.width = width;
    this.height = height;
    this.from = from;
    this.to = to;
    append("<rect width=\"%d\" height=\"%d\" fill=\"#fff\" stroke=\"#ccc\"/>", width, height);
    append(
        "<text x=\"10\" y=\"19\" font-size=\"13\" font-weight=\"bold\">%s</text>", escape(title));
  }

  String svg() {
    return svg.toString();
  }

  void noData() {
    append(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#777\">No data</text>",
        width / 2, height / 2 + 8);
  }

  /** The last value in large letters. */
  void value(String text) {
    append(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"34\" fill=\"#0072B2\">%s</text>",
        width / 2, height / 2 + 24, escape(text));
  }

  /** Lines over time, one upon the other or from zero. */
  void lines(List<Line> lines, String unit, boolean stacked) {
    List<Line> drawn = stacked ? stack(lines) : lines;
    double high =
        drawn.stream()
            .flatMap(line -> line.values.values().stream())
            .mapToDouble(Double::doubleValue)
            .max()
            .orElse(1);
    double top = high > 0 ? high * 1.08 : 1;
    int bottom = legend(lines);
    double[] ticks = ticks(top, unit.equals("bytes") ? 2 : 10);
    for (double tick : ticks) {
      double y = y(tick, top, bottom);
      append("<path d=\"M%d %.1f h%d\" stroke=\"#e4e4e4\"/>", LEFT, y, width - LEFT - RIGHT);
      append(
          "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#555\">%s</text>",
          LEFT - 6, y + 4, escape(Unit.format(unit, tick)));
    }
    times(bottom);
    for (int i = drawn.size() - 1; i >= 0; i--) {
      for (NavigableMap<Long, Double> piece : pieces(drawn.get(i).values)) {
        StringBuilder path = new StringBuilder();
        piece.forEach(
            (at, value) ->
                path.append(path.isEmpty() ? "M" : " L")
                    .append(String.format(Locale.ROOT, "%.1f %.1f", x(at), y(value, top, bottom))));
        String colour = COLOURS[i % COLOURS.length];
        if (stacked) {
          append(
              "<path d=\"%1$s L%2$.1f %3$d L%4$.1f %5$d Z\" fill=\"#fff\"/>"
                  + "<path d=\"%1$s L%2$.1f %3$d L%4$.1f %5$d Z\" fill=\"%6$s\""
                  + " fill-opacity=\"0.55\"/>",
              path, x(piece.lastKey()), bottom, x(piece.firstKey()), bottom, colour);
        }
        append("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"/>", path, colour);
      }
    }
  }

  /** Counts by bucket over time; buckets with nothing at any time are left out. */
  void heatmap(NavigableMap<Double, NavigableMap<Long, Double>> cumulative, long step) {
    NavigableMap<Double, NavigableMap<Long, Double>> counts = new TreeMap<>();
    NavigableMap<Long, Double> before = new TreeMap<>();
    double most = 0;
    for (Map.Entry<Double, NavigableMap<Long, Double>> bucket : cumulative.entrySet()) {
      NavigableMap<Long, Double> own = new TreeMap<>();
      for (Map.Entry<Long, Double> point : bucket.getValue().entrySet()) {
        double count = point.getValue() - before.getOrDefault(point.getKey(), 0.0);
        own.put(point.getKey(), count);
        most = Math.max(most, count);
      }
      before = bucket.getValue();
      if (own.values().stream().anyMatch(count -> count > 0.01)) {
        counts.put(bucket.getKey(), own);
      }
    }
    int bottom = height - AXIS - 8;
    times(bottom);
    double cell = (double) (bottom - TOP) / Math.max(1, counts.size());
    double wide = (double) (width - LEFT - RIGHT) * step / Math.max(1, to - from);
    int row = 0;
    for (Map.Entry<Double, NavigableMap<Long, Double>> bucket : counts.entrySet()) {
      double y = bottom - cell * ++row;
      append(
          "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#555\">%s</text>",
          LEFT - 6,
          y + cell / 2 + 4,
          bucket.getKey().isInfinite() ? "more" : "≤ " + Unit.format("none", bucket.getKey()));
      for (Map.Entry<Long, Double> point : bucket.getValue().entrySet()) {
        if (point.getValue() > 0.01 && most > 0) {
          append(
              "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#0072B2\""
                  + " fill-opacity=\"%.2f\"/>",
              Math.max(LEFT, x(point.getKey()) - wide),
              y + 0.5,
              wide,
              cell - 1,
              0.1 + 0.9 * Math.sqrt(point.getValue() / most));
        }
      }
    }
  }

  private static List<Line> stack(List<Line> lines) {
    NavigableMap<Long, Double> sums = new TreeMap<>();
    List<Line> stacked = new ArrayList<>();
    for (Line line : lines) {
      NavigableMap<Long, Double> upon = new TreeMap<>();
      line.values.forEach((at, value) -> upon.put(at, sums.merge(at, value, Double::sum)));
      stacked.add(new Line(line.name, upon));
    }
    return stacked;
  }

  /** Parts of a line without gaps. */
  private static List<NavigableMap<Long, Double>> pieces(NavigableMap<Long, Double> values) {
    long step = Long.MAX_VALUE;
    Long last = null;
    for (long at : values.keySet()) {
      step = last == null ? step : Math.min(step, at - last);
      last = at;
    }
    List<NavigableMap<Long, Double>> pieces = new ArrayList<>();
    last = null;
    for (Map.Entry<Long, Double> point : values.entrySet()) {
      if (last == null || point.getKey() - last > step) {
        pieces.add(new TreeMap<>());
      }
      last = point.getKey();
      pieces.get(pieces.size() - 1).put(last, point.getValue());
    }
    return pieces;
  }

  /** Writes names and colours; returns where the axis of time is. */
  private int legend(List<Line> lines) {
    int x = 12;
    int rows = 1;
    StringBuilder entries = new StringBuilder();
    for (int i = 0; i < lines.size(); i++) {
      int wide = 26 + CHARACTER * lines.get(i).name.length();
      if (x > 12 && x + wide > width) {
        x = 12;
        rows++;
      }
      entries.append(
          String.format(
              Locale.ROOT,
              "<g transform=\"translate(%d %d)\"><rect y=\"-8\" width=\"12\" height=\"8\""
                  + " fill=\"%s\"/><text x=\"16\">%s</text></g>",
              x,
              LEGEND_LINE * rows,
              COLOURS[i % COLOURS.length],
              escape(lines.get(i).name)));
      x += wide;
    }
    int bottom = height - AXIS - LEGEND_LINE * rows - 6;
    append("<g transform=\"translate(0 %d)\">%s</g>", bottom + AXIS - 4, entries);
    return bottom;
  }

  private void times(int bottom) {
    append("<path d=\"M%d %d h%d\" stroke=\"#888\"/>", LEFT, bottom, width - LEFT - RIGHT);
    long minutes = (to - from) / 60;
    long every = Math.max(1, minutes / 5);
    for (long minute = 0; minute <= minutes; minute += every) {
      append(
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">%d min</text>",
          x(from + 60 * minute), bottom + 14, minute);
    }
  }

  private double x(long at) {
    return LEFT + (double) (width - LEFT - RIGHT) * (at - from) / Math.max(1, to - from);
  }

  private static double y(double value, double top, int bottom) {
    return bottom - (bottom - TOP) * Math.max(0, value) / top;
  }

  /** Three to eight round values; of bytes, powers of two apart. */
  private static double[] ticks(double top, int base) {
    double rough = top / 4;
    double power = Math.pow(base, Math.floor(Math.log(rough) / Math.log(base)));
    double step =
        base == 2 ? power * 2 : power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : 2);
    double[] ticks = new double[(int) (top / step) + 1];
    for (int i = 0; i < ticks.length; i++) {
      ticks[i] = i * step;
    }
    return ticks;
  }

  private void append(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
