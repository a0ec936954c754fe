package dev.vamana.tools.demo;

import java.awt.BasicStroke;
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
   * Letters drawn with straight strokes, for machines without fonts. Each has the digits x (0 to 4)
   * and y (0 to 6, downwards) of the points of its lines; a space lifts the pen.
   */
  private static final String[] STROKES = {
    "06011010304146 0343",
    "060030413233 033334454636 3606",
    "4130100105163645",
    "06003041453606",
    "40000646 0333",
    "400006 0333",
    "413010010516364543 4323",
    "0006 4046 0343",
    "1030 2026 1636",
    "40453616 1605",
    "0006 4003 0346",
    "000646",
    "0600234046",
    "06004640",
    "103041453616050110",
    "060030413203",
    "103041453616050110 2446",
    "060030413203 2346",
    "413010010233444536160500",
    "0040 2026",
    "000516364540",
    "002640",
    "0016233640",
    "0046 4006",
    "002340 2326",
    "00400646",
    "103041453616050110 4105",
    "112026 1636",
    "0110304142063646",
    "0040234445361605",
    "3036 30044404",
    "400002324345361605",
    "4130100105163645443303",
    "004016",
    "103041320205163645321201 0110",
    "4313020110304145361605",
  };

  /**
   * The glyphs of the fonts that the JDK finds, or letters made of strokes if it finds none (a
   * machine may lack the fontconfig library, or any font).
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
          strokeOutlines(),
          "letters made of strokes, because the JDK finds no fonts here ("
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
    if (usable.size() <= MOST_FONTS) {
      return usable;
    }
    List<Font> some = new ArrayList<>();
    for (int i = 0; i < MOST_FONTS; i++) {
      some.add(usable.get(i * usable.size() / MOST_FONTS));
    }
    return some;
  }

  static Glyphs ofStrokes() {
    return new Glyphs(strokeOutlines(), "letters made of strokes");
  }

  private static List<Shape> strokeOutlines() {
    List<Shape> outlines = new ArrayList<>();
    for (String strokes : STROKES) {
      Path2D path = new Path2D.Float();
      for (String line : strokes.split(" ")) {
        path.moveTo(line.charAt(0) - '0', line.charAt(1) - '0');
        for (int i = 2; i < line.length(); i += 2) {
          path.lineTo(line.charAt(i) - '0', line.charAt(i + 1) - '0');
        }
      }
      for (float width : new float[] {0.4f, 0.8f, 1.3f}) {
        BasicStroke pen = new BasicStroke(width, BasicStroke.CAP_ROUND, BasicStroke.JOIN_ROUND);
        outlines.add(fitted(pen.createStrokedShape(path)));
      }
    }
    return outlines;
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
