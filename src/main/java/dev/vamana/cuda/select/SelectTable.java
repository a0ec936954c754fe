package dev.vamana.cuda.select;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Maps numbers of rows, keys and results to the selection method that was measured as fastest.
 * {@link #measured()} returns the shipped table, which docs/internals/selection.md describes.
 */
public final class SelectTable {

  private static final String RESOURCE = "select-table.txt";

  /**
   * A measured point, written as {@code rows n k method}.
   *
   * @param rows number of rows
   * @param n keys of a row
   * @param k results of a row
   * @param method the fastest method
   */
  public record Point(int rows, int n, int k, SelectMethod method) {

    /** Checks that the method accepts n and k. */
    public Point {
      if (method.accepts(n, k) == false) {
        throw new IllegalArgumentException(method + " does not select " + k + " of " + n);
      }
    }

    static Point parse(String line) {
      String[] word = line.strip().split(" +", -1);
      if (word.length != 4) {
        throw new IllegalArgumentException("a line must be 'rows n k method', got '" + line + "'");
      }
      return new Point(
          Integer.parseInt(word[0]),
          Integer.parseInt(word[1]),
          Integer.parseInt(word[2]),
          SelectMethod.parse(word[3]));
    }

    @Override
    public String toString() {
      return rows + " " + n + " " + k + " " + method;
    }
  }

  private final List<Point> points;

  private SelectTable(List<Point> points) {
    this.points = List.copyOf(points);
  }

  /** Makes a table of points, possibly none. */
  public static SelectTable of(List<Point> points) {
    return new SelectTable(points);
  }

  /** Returns the shipped table. */
  public static SelectTable measured() {
    try (InputStream resource = SelectTable.class.getResourceAsStream(RESOURCE)) {
      if (resource == null) {
        throw new IllegalStateException("resource " + RESOURCE + " is missing");
      }
      List<Point> points = new ArrayList<>();
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(resource, StandardCharsets.UTF_8));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.isBlank() == false && line.startsWith("#") == false) {
          points.add(Point.parse(line));
        }
      }
      return new SelectTable(points);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the points. */
  public List<Point> points() {
    return points;
  }

  /**
   * Returns the method of the nearest point, by the ratios of rows and of keys, among the points
   * with at least {@code k} results whose method accepts {@code n} and {@code k}; the smallest k
   * wins ties. Without such a point, a rule of thumb chooses.
   */
  public SelectMethod choose(int rows, int n, int k) {
    Point best = null;
    double bestDistance = Double.POSITIVE_INFINITY;
    for (Point point : points) {
      if (point.k() >= k && point.method().accepts(n, k)) {
        double distance = apart(point.rows(), rows) + apart(point.n(), n);
        if (distance < bestDistance || (distance == bestDistance && point.k() < best.k())) {
          best = point;
          bestDistance = distance;
        }
      }
    }
    return best != null ? best.method() : otherwise(rows, n, k);
  }

  private static double apart(int a, int b) {
    return Math.abs(Math.log(a) - Math.log(b));
  }

  /** Chooses by rules of thumb, with enough blocks to fill a device. */
  private static SelectMethod otherwise(int rows, int n, int k) {
    int partitions = Math.max(1, Math.min(256 / rows, n / (4 * SelectMethod.SAMPLE)));
    if (k <= SelectMethod.MAX_SHORT_K) {
      return SelectMethod.bits(k <= 128 ? 1_024 : k <= 512 ? 2_048 : 4_096, partitions);
    }
    if (n >= 4 * SelectMethod.SAMPLE && k < n) {
      return SelectMethod.of(SelectMethod.Family.SAMPLE, partitions);
    }
    return SelectMethod.of(SelectMethod.Family.RADIX, 1);
  }
}
