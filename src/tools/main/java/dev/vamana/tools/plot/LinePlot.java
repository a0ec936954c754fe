package dev.vamana.tools.plot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.DoubleStream;

/**
 * Plots several lines with markers in one frame, as SVG that needs no external font, script or
 * style. Series differ in colour, dashes and marker, so the plot is readable without colours and
 * both of two lines that coincide are visible.
 */
public final class LinePlot {
  /**
   * The colours of Okabe and Ito, which remain distinct in the common kinds of colour blindness.
   */
  private static final String[] COLOURS = {
    "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"
  };

  /** Dashes of lines; a line is drawn over those before it, which show in its gaps. */
  private static final String[] DASHES = {"", "9 6", "3 4", "12 4 3 4"};

  private static final int HEIGHT = 560;
  private static final int LEFT = 85;

  /** Room for the legend: its lines, and the width of a character of the longest name. */
  private static final int LEGEND_LINE = 60;

  private static final int LEGEND_CHARACTER = 8;
  private static final int TOP = 50;
  private static final int BOTTOM = 65;
  private static final int PLOT_WIDTH = 590;
  private static final int PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;

  private final String title;
  private final Axis xAxis;
  private final Axis yAxis;
  private final List<Series> series = new ArrayList<>();

  public LinePlot(String title, Axis xAxis, Axis yAxis) {
    this.title = Objects.requireNonNull(title);
    this.xAxis = Objects.requireNonNull(xAxis);
    this.yAxis = Objects.requireNonNull(yAxis);
  }

  /**
   * Adds a line. The legend lists the lines in this order.
   *
   * @throws IllegalArgumentException if a value is outside the range of its axis' scale
   */
  public LinePlot add(Series line) {
    require(line.name(), line.x(), xAxis.scale());
    require(line.name(), line.y(), yAxis.scale());
    series.add(line);
    return this;
  }

  /** Writes {@link #toSvg} as UTF-8. */
  public void write(Path file) throws IOException {
    Files.writeString(file, toSvg());
  }

  /**
   * Returns the plot as an {@code <svg>} element, for a file or for the body of an HTML page. Omits
   * points outside a bounded axis.
   *
   * @throws IllegalStateException if no series was added
   */
  public String toSvg() {
    if (series.isEmpty()) {
      throw new IllegalStateException("plot '" + title + "' has no series");
    }
    Axis x = xAxis.fit(extreme(Series::x, true), extreme(Series::x, false));
    Axis y = yAxis.fit(extreme(Series::y, true), extreme(Series::y, false));
    int longest = series.stream().mapToInt(line -> line.name().length()).max().getAsInt();
    int width = LEFT + PLOT_WIDTH + LEGEND_LINE + LEGEND_CHARACTER * longest;
    StringBuilder svg = new StringBuilder();
    append(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">",
        width,
        HEIGHT,
        width,
        HEIGHT);
    append(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>", width, HEIGHT);
    append(svg, "<text x=\"%d\" y=\"30\" font-size=\"17\">%s</text>", LEFT, escape(title));
    appendAxes(svg, x, y);
    PointLabels places = new PointLabels();
    for (Series line : series) {
      for (int i = 0; i < line.x().length; i++) {
        places.addPoint(across(x, line.x()[i]), down(y, line.y()[i]));
      }
    }
    for (int i = 0; i < series.size(); i++) {
      appendSeries(svg, i, x, y, places);
      appendLegend(svg, i);
    }
    return svg.append("</svg>\n").toString();
  }

  private static double across(Axis x, double value) {
    return LEFT + PLOT_WIDTH * x.fraction(value);
  }

  private static double down(Axis y, double value) {
    return TOP + PLOT_HEIGHT * (1 - y.fraction(value));
  }

  private void appendAxes(StringBuilder svg, Axis x, Axis y) {
    for (double tick : x.scale().ticks(x.low(), x.high())) {
      double at = across(x, tick);
      append(
          svg,
          "<path d=\"M%.1f %d v%d\" stroke=\"#ddd\"/>"
              + "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
          at,
          TOP,
          PLOT_HEIGHT,
          at,
          TOP + PLOT_HEIGHT + 20,
          Axis.format(tick));
    }
    for (double tick : y.scale().ticks(y.low(), y.high())) {
      double at = down(y, tick);
      append(
          svg,
          "<path d=\"M%d %.1f h%d\" stroke=\"#ddd\"/>"
              + "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
          LEFT,
          at,
          PLOT_WIDTH,
          LEFT - 8,
          at + 4.5,
          Axis.format(tick));
    }
    append(
        svg,
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#666\"/>",
        LEFT,
        TOP,
        PLOT_WIDTH,
        PLOT_HEIGHT);
    append(
        svg,
        "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"14\">%s</text>",
        LEFT + PLOT_WIDTH / 2,
        HEIGHT - 18,
        escape(x.label()));
    append(
        svg,
        "<text transform=\"translate(22 %d) rotate(-90)\" text-anchor=\"middle\""
            + " font-size=\"14\">%s</text>",
        TOP + PLOT_HEIGHT / 2,
        escape(y.label()));
  }

  private void appendSeries(StringBuilder svg, int index, Axis x, Axis y, PointLabels places) {
    Series line = series.get(index);
    StringBuilder path = new StringBuilder();
    StringBuilder markers = new StringBuilder();
    StringBuilder labels = new StringBuilder();
    boolean drawing = false;
    for (int i = 0; i < line.x().length; i++) {
      boolean inside = x.contains(line.x()[i]) && y.contains(line.y()[i]);
      if (inside) {
        double px = across(x, line.x()[i]);
        double py = down(y, line.y()[i]);
        append(path, "%s%.1f %.1f", drawing ? " L" : " M", px, py);
        String note = line.notes() == null ? "" : ", " + line.notes()[i];
        append(
            markers,
            "<g>%s<title>%s</title></g>",
            marker(index, px, py),
            escape(
                line.name()
                    + ": "
                    + Axis.format(line.x()[i])
                    + ", "
                    + Axis.format(line.y()[i])
                    + note));
        if (line.labels() != null) {
          String label = line.labels()[i];
          labels.append(places.place(px, py, index % 2 == 1, escape(label), label.length()));
        }
      }
      drawing = inside;
    }
    String colour = COLOURS[index % COLOURS.length];
    append(
        svg,
        "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>",
        path.isEmpty() ? "M0 0" : path.substring(1),
        colour,
        dashes(index));
    append(svg, "<g %s>%s</g>", paint(index), markers);
    if (labels.isEmpty() == false) {
      append(svg, "<g fill=\"%s\" font-size=\"11\" text-anchor=\"middle\">%s</g>", colour, labels);
    }
  }

  private void appendLegend(StringBuilder svg, int index) {
    String colour = COLOURS[index % COLOURS.length];
    double y = TOP + 14 + 24 * index;
    double x = LEFT + PLOT_WIDTH + 18;
    append(
        svg,
        "<path d=\"M%.1f %.1f h30\" stroke=\"%s\" stroke-width=\"2\"%s/><g %s>%s</g>"
            + "<text x=\"%.1f\" y=\"%.1f\">%s</text>",
        x,
        y,
        colour,
        dashes(index),
        paint(index),
        marker(index, x + 15, y),
        x + 38,
        y + 4.5,
        escape(series.get(index).name()));
  }

  private static String dashes(int index) {
    String dashes = DASHES[index % DASHES.length];
    return dashes.isEmpty() ? "" : " stroke-dasharray=\"" + dashes + "\"";
  }

  /** Markers of every other line are hollow, so that one below another is seen. */
  private static String paint(int index) {
    String colour = COLOURS[index % COLOURS.length];
    return index % 2 == 0
        ? "fill=\"" + colour + "\""
        : "fill=\"#fff\" stroke=\"" + colour + "\" stroke-width=\"2\"";
  }

  private static String marker(int index, double x, double y) {
    return switch (index % 4) {
      case 0 -> format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>", x, y);
      case 1 -> format("<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\"/>", x - 4, y - 4);
      case 2 -> format("<path d=\"M%.1f %.1f l5 9 h-10 z\"/>", x, y - 5);
      default -> format("<path d=\"M%.1f %.1f l5.5 5.5 -5.5 5.5 -5.5 -5.5 z\"/>", x, y - 5.5);
    };
  }

  private double extreme(Function<Series, double[]> values, boolean lowest) {
    DoubleStream all = series.stream().flatMapToDouble(line -> DoubleStream.of(values.apply(line)));
    return (lowest ? all.min() : all.max()).getAsDouble();
  }

  private static void require(String name, double[] values, Scale scale) {
    for (double value : values) {
      if (scale == Scale.LOG && value <= 0) {
        throw new IllegalArgumentException(
            "series '" + name + "': " + value + " on a log axis, allowed is above 0");
      }
      if (scale == Scale.NEAR_ONE && (value < 0 || value > 1)) {
        throw new IllegalArgumentException(
            "series '" + name + "': " + value + " as a share, allowed is [0, 1]");
      }
    }
  }

  private static void append(StringBuilder out, String format, Object... values) {
    out.append(format(format, values));
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
