package dev.vamana.tools.benchmark;

import dev.vamana.tools.benchmark.Curve.Basis;
import dev.vamana.tools.benchmark.Curve.Point;
import dev.vamana.tools.benchmark.Curve.Speed;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

public class CurveTests extends LuceneTestCase {

  public void testLogarithmOfSpeedIsLinearInRecall() {
    Curve curve = new Curve("c", List.of(point(40, 0.98, 100), point(10, 0.90, 10_000)));
    Speed middle = curve.speedAt(0.94);
    assertEquals(Basis.INTERPOLATED, middle.basis());
    assertEquals(1_000, middle.qps(), 1e-6);
    assertEquals(100, curve.speedAt(0.98).qps(), 1e-9);
  }

  public void testSmallestWidthAndNotReached() {
    Curve curve = new Curve("c", List.of(point(10, 0.96, 500), point(20, 0.985, 300)));
    assertEquals(new Speed(500, Basis.SMALLEST_WIDTH), curve.speedAt(0.95));
    assertEquals(Basis.NOT_REACHED, curve.speedAt(0.99).basis());
    assertTrue(Double.isNaN(curve.speedAt(0.99).qps()));
  }

  public void testRecallThatDoesNotGrowBetweenWidths() {
    Curve curve =
        new Curve(
            "c",
            List.of(
                point(10, 0.9, 800),
                point(20, 0.9, 600),
                point(30, 0.89, 500),
                point(40, 0.95, 400)));
    Speed speed = curve.speedAt(0.92);
    assertEquals(Basis.INTERPOLATED, speed.basis());
    assertEquals(500 * Math.sqrt(400 / 500.0), speed.qps(), 1e-6);
    assertEquals(800, curve.speedAt(0.9).qps(), 0);
  }

  public void testSpeedLiesBetweenItsNeighbours() {
    double low = random().nextDouble() * 0.9;
    double high = low + 0.01 + random().nextDouble() * 0.09;
    double fast = 1 + random().nextDouble() * 1e5;
    double slow = fast * (0.01 + 0.99 * random().nextDouble());
    Curve curve = new Curve("c", List.of(point(10, low, fast), point(20, high, slow)));
    double qps = curve.speedAt(low + (high - low) * (0.01 + 0.98 * random().nextDouble())).qps();
    assertTrue(qps <= fast * (1 + 1e-9) && qps >= slow * (1 - 1e-9));
  }

  public void testNoPoints() {
    expectThrows(IllegalArgumentException.class, () -> new Curve("c", List.of()));
  }

  private static Point point(int width, double recall, double qps) {
    return new Point(width, recall, qps, 1, 2, 3);
  }
}
