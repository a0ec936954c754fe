package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.Recall;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Throughput by recall of one index. More candidates cost more and find more; where measured points
 * contradict that, it is noise: points that follow one another in the wrong order get the geometric
 * mean of their throughputs, and a point whose recall is not above the one before it is left out.
 *
 * @param points ascending {@code num_candidates} and recall, throughput nowhere ascending; at least
 *     one
 */
public record Curve(List<Point> points) {

  /**
   * One measured point.
   *
   * @param numCandidates what was asked for
   * @param recall recall@10, 0 to 1
   * @param perSecond requests a second, above 0
   */
  public record Point(int numCandidates, double recall, double perSecond) {}

  /** Recalls of two cheapest searches that differ by less are compared as equal. */
  private static final double SAME_RECALL = 0.0025;

  public Curve {
    if (points.isEmpty()) {
      throw new IllegalArgumentException("a curve needs at least one point");
    }
    points =
        ascending(
            smooth(points.stream().sorted(Comparator.comparingInt(Point::numCandidates)).toList()));
  }

  /** Isotonic regression of the logarithms, by pooling adjacent violators. */
  private static List<Point> smooth(List<Point> points) {
    List<List<Point>> pools = new ArrayList<>();
    for (Point point : points) {
      List<Point> pool = new ArrayList<>(List.of(point));
      while (pools.isEmpty() == false && mean(pools.get(pools.size() - 1)) < mean(pool)) {
        pool.addAll(0, pools.remove(pools.size() - 1));
      }
      pools.add(pool);
    }
    List<Point> smooth = new ArrayList<>();
    for (List<Point> pool : pools) {
      double mean = mean(pool);
      pool.forEach(
          point -> smooth.add(new Point(point.numCandidates(), point.recall(), Math.exp(mean))));
    }
    return smooth;
  }

  private static double mean(List<Point> pool) {
    return pool.stream().mapToDouble(point -> Math.log(point.perSecond())).average().orElseThrow();
  }

  private static List<Point> ascending(List<Point> points) {
    List<Point> ascending = new ArrayList<>();
    for (Point point : points) {
      if (ascending.isEmpty() || point.recall() > ascending.get(ascending.size() - 1).recall()) {
        ascending.add(point);
      }
    }
    return List.copyOf(ascending);
  }

  /** The point of the fewest candidates. */
  public Point cheapest() {
    return points.get(0);
  }

  /**
   * Requests a second at a recall: between two points the logarithm of the throughput is linear in
   * the recall.
   *
   * @return the cheapest point's throughput if that point has the recall; NaN if no point has it
   */
  public double perSecondAt(double recall) {
    Point below = null;
    for (Point point : points) {
      if (point.recall() >= recall) {
        return below == null
            ? point.perSecond()
            : Recall.speedBetween(
                recall, below.recall(), below.perSecond(), point.recall(), point.perSecond());
      }
      below = point;
    }
    return Double.NaN;
  }

  /**
   * Throughput divided by that of another index at one recall, or at the recall of the cheapest
   * search of one of both if that is higher.
   *
   * @return NaN if one of both did not reach the recall
   */
  public double ratioTo(Curve other, double wanted) {
    double own = cheapest().recall();
    double others = other.cheapest().recall();
    if (wanted <= Math.min(own, others) && Math.abs(own - others) <= SAME_RECALL) {
      return cheapest().perSecond() / other.cheapest().perSecond();
    }
    double recall = Math.max(wanted, Math.max(own, others));
    return perSecondAt(recall) / other.perSecondAt(recall);
  }
}
