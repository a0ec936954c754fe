package dev.vamana.tools.demo;

import java.awt.image.BufferedImage;
import java.awt.image.WritableRaster;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import javax.imageio.ImageIO;

/** Turns vectors that are square grey images into pictures for a page. */
final class Pictures {

  private final float low;
  private final float high;

  /** Pictures whose black and white are the smallest and largest component of {@code sample}. */
  Pictures(float[][] sample) {
    float smallest = Float.POSITIVE_INFINITY;
    float largest = Float.NEGATIVE_INFINITY;
    for (float[] vector : sample) {
      for (float value : vector) {
        smallest = Math.min(smallest, value);
        largest = Math.max(largest, value);
      }
    }
    this.low = smallest;
    this.high = largest > smallest ? largest : smallest + 1;
  }

  /** A {@code data:} URI of the vector's PNG image. */
  String dataUri(float[] vector) {
    BufferedImage image =
        new BufferedImage(GlyphImages.SIDE, GlyphImages.SIDE, BufferedImage.TYPE_BYTE_GRAY);
    WritableRaster raster = image.getRaster();
    for (int i = 0; i < vector.length; i++) {
      int grey = Math.round(255 * (vector[i] - low) / (high - low));
      raster.setSample(
          i % GlyphImages.SIDE, i / GlyphImages.SIDE, 0, Math.max(0, Math.min(255, grey)));
    }
    ByteArrayOutputStream png = new ByteArrayOutputStream();
    try {
      ImageIO.write(image, "png", png);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return "data:image/png;base64," + Base64.getEncoder().encodeToString(png.toByteArray());
  }
}
