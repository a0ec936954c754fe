package dev.vamana.tools.plot;

import java.util.Objects;

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
    Objects.requireNonNull(name);
    if (x.length == 0
        || x.length != y.length
        || (notes != null && notes.length != x.length)
        || (labels != null && labels.length != x.length)) {
      throw new IllegalArgumentException(
          "series '"
              + name
              + "': "
              + x.length
              + " x, "
              + y.length
              + " y, "
              + (notes == null ? "no" : notes.length)
              + " notes and "
              + (labels == null ? "no" : labels.length)
              + " labels, allowed is the same number >= 1");
    }
    for (int i = 0; i < x.length; i++) {
      if (!Double.isFinite(x[i]) || !Double.isFinite(y[i])) {
        throw new IllegalArgumentException(
            "series '"
                + name
                + "': point "
                + i
                + " is ("
                + x[i]
                + ", "
                + y[i]
                + "), allowed are finite values");
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
