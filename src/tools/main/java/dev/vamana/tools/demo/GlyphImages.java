package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.VectorTable;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.Shape;
import java.awt.geom.AffineTransform;
import java.awt.image.BufferedImage;
import java.awt.image.Raster;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws grey images of glyphs, each glyph and its affine distortion chosen at random. Each image
 * has a seed of its own, so that all processors can draw.
 */
final class GlyphImages {

  /** Width and height in pixels. */
  static final int SIDE = 28;

  private final List<Shape> outlines;
  private final long seed;

  /**
   * Images of the given glyphs.
   *
   * @param seed equal seeds and glyphs give equal images
   */
  GlyphImages(Glyphs glyphs, long seed) {
    this.outlines = glyphs.outlines();
    this.seed = seed;
  }

  /** Draws {@code count} images: rows of 784 components from 0 (black) to 255. */
  VectorTable draw(int count) {
    SplittableRandom seeds = new SplittableRandom(seed);
    long[] ofImages = seeds.longs(count).toArray();
    float[][] rows =
        Arrays.stream(ofImages)
            .parallel()
            .mapToObj(each -> image(new SplittableRandom(each)))
            .toArray(float[][]::new);
    return new VectorTable(ElementType.UINT8, SIDE * SIDE, rows);
  }

  private float[] image(SplittableRandom random) {
    Shape outline = outlines.get(random.nextInt(outlines.size()));
    double size = 0.72 * SIDE;
    AffineTransform distortion = new AffineTransform();
    distortion.translate(
        SIDE / 2.0 + between(random, -0.06, 0.06) * SIDE,
        SIDE / 2.0 + between(random, -0.06, 0.06) * SIDE);
    distortion.rotate(between(random, -0.3, 0.3));
    distortion.shear(between(random, -0.25, 0.25), between(random, -0.1, 0.1));
    distortion.scale(size * between(random, 0.75, 1.1), size * between(random, 0.75, 1.1));
    BufferedImage image = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_BYTE_GRAY);
    Graphics2D graphics = image.createGraphics();
    try {
      graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
      graphics.setColor(Color.WHITE);
      graphics.fill(distortion.createTransformedShape(outline));
    } finally {
      graphics.dispose();
    }
    Raster raster = image.getRaster();
    return raster.getSamples(0, 0, SIDE, SIDE, 0, new float[SIDE * SIDE]);
  }

  private static double between(SplittableRandom random, double low, double high) {
    return low + random.nextDouble() * (high - low);
  }
}
