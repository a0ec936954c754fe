package dev.vamana.tools.plot;

import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Finds places for short texts beside points, where they cover neither points nor one another. */
final class PointLabels {

  private static final double CHARACTER = 6.5;
  private static final double HEIGHT = 11;
  private static final double MARKER = 6;

  private final List<Rectangle2D> taken = new ArrayList<>();

  /** Keeps the place of a point's marker free. */
  void addPoint(double x, double y) {
    taken.add(new Rectangle2D.Double(x - MARKER, y - MARKER, 2 * MARKER, 2 * MARKER));
  }

  /**
   * The {@code <text>} element of a label: below or above its point, or else to the right or left,
   * nearby or farther away. Where everything is taken it is the first of these.
   *
   * @param above whether above is tried before below
   * @param escaped the text, fit for XML
   * @param length its characters
   */
  String place(double x, double y, boolean above, String escaped, int length) {
    double width = CHARACTER * length;
    List<Rectangle2D> places = new ArrayList<>();
    for (double away : new double[] {0, HEIGHT}) {
      double under = y + MARKER + 3 + away;
      double over = y - MARKER - 3 - HEIGHT - away;
      places.add(box(x - width / 2, above ? over : under, width));
      places.add(box(x - width / 2, above ? under : over, width));
      places.add(box(x + MARKER + 3 + away, y - HEIGHT / 2, width));
      places.add(box(x - MARKER - 3 - away - width, y - HEIGHT / 2, width));
    }
    Rectangle2D free =
        places.stream()
            .filter(place -> taken.stream().noneMatch(place::intersects))
            .findFirst()
            .orElse(places.get(0));
    taken.add(free);
    return String.format(
        Locale.ROOT,
        "<text x=\"%.1f\" y=\"%.1f\">%s</text>",
        free.getCenterX(),
        free.getMaxY() - 1.5,
        escaped);
  }

  private static Rectangle2D box(double x, double y, double width) {
    return new Rectangle2D.Double(x, y, width, HEIGHT);
  }
}
