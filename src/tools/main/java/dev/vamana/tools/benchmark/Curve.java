package dev.vamana.tools.benchmark;

import dev.vamana.tools.datasets.Recall;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Recall and speed of one index over beam widths.
 *
 * @param name name of the index
 * @param points measurements in ascending order of width, at least one
 */
record Curve(String name, List<Point> points) {

  /**
   * Measurement at one beam width.
   *
   * @param width beam width
   * @param recall mean recall@10, 0 to 1
   * @param qps queries per CPU second of the search thread, above 0
   * @param p50Us median elapsed time of a query in microseconds
   * @param p99Us 99th percentile of a query's elapsed time in microseconds
   * @param visited mean number of scored vectors per query
   */
  record Point(int width, double recall, double qps, double p50Us, double p99Us, double visited) {}

  /** How the speed at a recall was found. */
  enum Basis {
    /** Interpolated between two measured widths. */
    INTERPOLATED,
    /** The smallest width already exceeds the recall, and its speed is given. */
    SMALLEST_WIDTH,
    /** No width reaches the recall. */
    NOT_REACHED
  }

  /**
   * Speed at a recall.
   *
   * @param qps queries per CPU second, NaN if no width reaches the recall
   */
  record Speed(double qps, Basis basis) {}

  Curve {
    Objects.requireNonNull(name);
    if (points.isEmpty()) {
      throw new IllegalArgumentException("curve '" + name + "' has no points");
    }
    points = points.stream().sorted(Comparator.comparingInt(Point::width)).toList();
  }

  /**
   * Finds the speed at a recall. Interpolates between the first two neighbouring widths that
   * enclose the recall, with the logarithm of speed linear in recall.
   */
  Speed speedAt(double recall) {
    Point before = points.get(0);
    if (before.recall() >= recall) {
      return new Speed(before.qps(), Basis.SMALLEST_WIDTH);
    }
    for (Point after : points.subList(1, points.size())) {
      if (after.recall() >= recall) {
        double qps =
            Recall.speedBetween(recall, before.recall(), before.qps(), after.recall(), after.qps());
        return new Speed(qps, Basis.INTERPOLATED);
      }
      before = after;
    }
    return new Speed(Double.NaN, Basis.NOT_REACHED);
  }
}
