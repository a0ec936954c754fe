package dev.vamana.tools.cells;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.Test;

public class CurveTests {

  private static Curve.Point point(int numCandidates, double recall, double perSecond) {
    return new Curve.Point(numCandidates, recall, perSecond);
  }

  private static Curve curve(Curve.Point... points) {
    return new Curve(List.of(points));
  }

  @Test
  public void testLogarithmIsLinearBetweenPoints() {
    Curve curve = curve(point(20, 0.9, 100), point(10, 0.8, 400));
    assertEquals(400, curve.perSecondAt(0.8), 1e-9);
    assertEquals(200, curve.perSecondAt(0.85), 1e-9);
    assertEquals(100, curve.perSecondAt(0.9), 1e-9);
  }

  @Test
  public void testMoreCandidatesWithoutMoreRecallAreLeftOut() {
    Curve curve = curve(point(10, 0.8, 400), point(14, 0.8, 200), point(20, 0.9, 100));
    assertEquals(List.of(10, 20), curve.points().stream().map(Curve.Point::numCandidates).toList());
    assertEquals(200, curve.perSecondAt(0.85), 1e-9);
  }

  @Test
  public void testComparesAtTheWantedRecall() {
    Curve ours = curve(point(10, 0.85, 400), point(20, 0.95, 100));
    Curve stock = curve(point(10, 0.8, 400), point(20, 0.9, 250));
    assertEquals(200 / 250.0, ours.ratioTo(stock, 0.9), 1e-9);
    assertTrue(Double.isNaN(ours.ratioTo(stock, 0.94)));
  }

  @Test
  public void testComparesAtARecallThatTheCheapestSearchesHave() {
    Curve ours = curve(point(10, 0.96, 400), point(20, 0.98, 200));
    Curve stock = curve(point(10, 0.98, 100));
    assertEquals(2, ours.ratioTo(stock, 0.95), 1e-9);
  }

  @Test
  public void testWidthsEncloseTheComparedRecalls() {
    TreeMap<Integer, Double> recalls =
        new TreeMap<>(
            Map.of(10, 0.6, 14, 0.7, 20, 0.85, 28, 0.92, 40, 0.96, 56, 0.97, 80, 0.98, 112, 0.991));
    assertEquals(
        List.of(10, 14, 20, 28, 40, 80, 112),
        Widths.needed(recalls, 0.7, List.of(0.90, 0.95, 0.99)));
    assertEquals(
        List.of(10, 28, 40, 80, 112), Widths.needed(recalls, 0.95, List.of(0.90, 0.95, 0.99)));
    assertEquals(List.of(10, 80, 112), Widths.needed(recalls, 0.999, List.of(0.90, 0.95, 0.99)));
  }
}
