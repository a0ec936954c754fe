package dev.vamana.tools.demo;

import java.awt.Font;
import java.awt.GraphicsEnvironment;
import java.awt.Shape;
import java.awt.font.FontRenderContext;
import java.awt.geom.AffineTransform;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Outlines of letters and digits.
 *
 * @param outlines each fits the square from (-0.5, -0.5) to (0.5, 0.5), y grows downwards
 * @param origin where they come from, for the reader of the report
 */
record Glyphs(List<Shape> outlines, String origin) {

  private static final String CHARACTERS =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  private static final int MOST_FONTS = 24;

  /**
   * The glyphs of the fonts that the JDK finds, or stars if it finds none (a machine may lack the
   * fontconfig library, or any font).
   */
  static Glyphs find() {
    List<Font> fonts;
    String missing = "no font has all letters and digits";
    try {
      fonts = usableFonts();
    } catch (RuntimeException | LinkageError | InternalError e) {
      // The JDK's font code fails in these ways where a library of the system is missing.
      fonts = List.of();
      missing = e.toString();
    }
    if (fonts.isEmpty()) {
      return new Glyphs(
          stars(),
          "stars, because the JDK finds no fonts here ("
              + missing
              + "; packages fontconfig and fonts-dejavu-core bring some)");
    }
    List<Shape> outlines = new ArrayList<>();
    FontRenderContext context = new FontRenderContext(null, true, true);
    for (Font font : fonts) {
      for (int i = 0; i < CHARACTERS.length(); i++) {
        Shape outline =
            font.createGlyphVector(context, CHARACTERS.substring(i, i + 1)).getOutline();
        if (!outline.getBounds2D().isEmpty()) {
          outlines.add(fitted(outline));
        }
      }
    }
    return new Glyphs(
        outlines, CHARACTERS.length() + " letters and digits of " + fonts.size() + " fonts");
  }

  private static List<Font> usableFonts() {
    Font[] all = GraphicsEnvironment.getLocalGraphicsEnvironment().getAllFonts();
    Arrays.sort(all, Comparator.comparing(Font::getFontName));
    List<Font> usable = new ArrayList<>();
    for (Font font : all) {
      if (font.canDisplayUpTo(CHARACTERS) == -1) {
        usable.add(font.deriveFont(100f));
      }
    }
    int count = Math.min(usable.size(), MOST_FONTS);
    return IntStream.range(0, count).mapToObj(i -> usable.get(i * usable.size() / count)).toList();
  }

  /** Stars that differ in the number of their points and in how deep the gaps between them are. */
  static List<Shape> stars() {
    List<Shape> stars = new ArrayList<>();
    for (int points = 3; points <= 12; points++) {
      for (double inner = 0.2; inner < 0.7; inner += 0.15) {
        Path2D star = new Path2D.Float();
        star.moveTo(0, -1);
        for (int corner = 1; corner < 2 * points; corner++) {
          double radius = corner % 2 == 0 ? 1 : inner;
          double angle = Math.PI * corner / points;
          star.lineTo(radius * Math.sin(angle), -radius * Math.cos(angle));
        }
        star.closePath();
        stars.add(fitted(star));
      }
    }
    return stars;
  }

  /** The shape moved and scaled, with its proportions, into the unit square around the origin. */
  private static Shape fitted(Shape shape) {
    Rectangle2D bounds = shape.getBounds2D();
    double scale = 1 / Math.max(bounds.getWidth(), bounds.getHeight());
    AffineTransform fit = AffineTransform.getScaleInstance(scale, scale);
    fit.translate(-bounds.getCenterX(), -bounds.getCenterY());
    return fit.createTransformedShape(shape);
  }
}
