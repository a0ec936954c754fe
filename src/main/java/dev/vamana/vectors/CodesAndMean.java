package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.store.IndexInput;

/**
 * The common layout of codes of a segment: a row for each ordinal, then the mean of the vectors.
 */
final class CodesAndMean {

  private CodesAndMean() {}

  /**
   * Checks the length of a region and reads the mean at its end.
   *
   * @param codes name of the codes for messages, in the plural
   * @param length bytes that the region has to have
   * @throws IllegalArgumentException if the region has another length
   */
  static float[] mean(
      String codes, FileRegion region, long length, int size, int rowBytes, int dimension)
      throws IOException {
    if (region.length() != length) {
      throw new IllegalArgumentException(
          codes
              + " of "
              + size
              + " vectors of "
              + dimension
              + " components do not take "
              + region.length()
              + " bytes");
    }
    float[] mean = new float[dimension];
    IndexInput input = region.open();
    input.seek((long) size * rowBytes);
    input.readFloats(mean, 0, dimension);
    return mean;
  }
}
