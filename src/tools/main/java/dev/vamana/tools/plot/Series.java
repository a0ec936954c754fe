package dev.vamana.tools.plot;

import java.util.Arrays;
import java.util.stream.DoubleStream;

/**
 * One line of a plot, with a marker at each of its points.
 *
 * @param name name in the legend
 * @param x positions, at least one, finite
 * @param y values, finite, as many as {@code x}
 * @param notes texts, as many as {@code x}, shown when the pointer rests on a marker; null for none
 * @param labels short texts, as many as {@code x}, printed beside the markers; null for none
 */
public record Series(String name, double[] x, double[] y, String[] notes, String[] labels) {

  public Series {
    if (x.length == 0 || x.length != y.length) {
      throw new IllegalArgumentException(
          "series '"
              + name
              + "': "
              + x.length
              + " x, "
              + y.length
              + " y, allowed is the same >= 1");
    }
    for (double value : DoubleStream.concat(Arrays.stream(x), Arrays.stream(y)).toArray()) {
      if (Double.isFinite(value) == false) {
        throw new IllegalArgumentException(
            "series '" + name + "': " + value + ", allowed are finite values");
      }
    }
  }

  /** Makes a line whose markers have notes and no labels. */
  public Series(String name, double[] x, double[] y, String[] notes) {
    this(name, x, y, notes, null);
  }

  /** Makes a line without notes and labels. */
  public static Series of(String name, double[] x, double[] y) {
    return new Series(name, x, y, null);
  }
}
