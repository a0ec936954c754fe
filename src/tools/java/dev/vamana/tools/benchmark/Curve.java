package dev.vamana.tools.benchmark;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Recall against speed of one index over beam widths.
 *
 * @param name the index
 * @param points in ascending order of width, at least one
 */
record Curve(String name, List<Point> points) {

  /**
   * One width.
   *
   * @param width beam width
   * @param recall mean recall@10, 0 to 1
   * @param qps queries per second of the search thread's CPU time, above 0
   * @param p50Us median elapsed time of a query in microseconds
   * @param p99Us 99th percentile of the same
   * @param visited mean number of scored vectors
   */
  record Point(int width, double recall, double qps, double p50Us, double p99Us, double visited) {}

  /** How a speed at a wanted recall came about. */
  enum Basis {
    /** Between two measured widths. */
    INTERPOLATED,
    /** The smallest width already exceeds the wanted recall. */
    SMALLEST_WIDTH,
    /** No width reaches the wanted recall. */
    NOT_REACHED
  }

  /**
   * Speed at a wanted recall.
   *
   * @param qps queries per CPU second, NaN if not reached
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
   * Speed at a recall, where the logarithm of speed is taken to be linear in recall between the
   * first two neighbouring widths that enclose it.
   */
  Speed speedAt(double recall) {
    Point before = points.get(0);
    if (before.recall() >= recall) {
      return new Speed(before.qps(), Basis.SMALLEST_WIDTH);
    }
    for (Point after : points.subList(1, points.size())) {
      if (after.recall() >= recall) {
        double share = (recall - before.recall()) / (after.recall() - before.recall());
        double logarithm = (1 - share) * Math.log(before.qps()) + share * Math.log(after.qps());
        return new Speed(Math.exp(logarithm), Basis.INTERPOLATED);
      }
      before = after;
    }
    return new Speed(Double.NaN, Basis.NOT_REACHED);
  }
}
