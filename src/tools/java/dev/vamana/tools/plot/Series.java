package dev.vamana.tools.plot;

import java.util.Objects;

/**
 * One line of a plot, a marker at each of its points.
 *
 * @param name shown in the legend
 * @param x positions, at least one, finite
 * @param y as many values, finite
 * @param notes as many texts, shown when a pointer rests on the marker; null for none
 */
public record Series(String name, double[] x, double[] y, String[] notes) {

  public Series {
    Objects.requireNonNull(name);
    if (x.length == 0 || x.length != y.length || (notes != null && notes.length != x.length)) {
      throw new IllegalArgumentException(
          "series '"
              + name
              + "': "
              + x.length
              + " x, "
              + y.length
              + " y and "
              + (notes == null ? "no" : notes.length)
              + " notes, allowed is the same number >= 1");
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

  /** A line without notes. */
  public static Series of(String name, double[] x, double[] y) {
    return new Series(name, x, y, null);
  }
}
