package dev.vamana.cuda.devices;

import org.apache.lucene.tests.util.LuceneTestCase;

/** Which segment a busy device gives to another one. */
public class PlacementsTests extends LuceneTestCase {

  public void testTheSegmentThatEvensBestGoes() {
    assertEquals(1, Placements.mostEven(new double[] {10, 30, 60}, 100, 40));
    assertEquals(2, Placements.mostEven(new double[] {10, 30, 60}, 100, 0));
    double[] eight = {1, 1, 1, 1, 1, 1, 1, 1};
    assertEquals(0, Placements.mostEven(eight, 8, 0));
  }

  public void testTheOnlyBusySegmentStays() {
    assertEquals(-1, Placements.mostEven(new double[] {100}, 100, 0));
  }

  /** Else loads that waver would move segments to and fro. */
  public void testASmallGainMovesNothing() {
    assertEquals(-1, Placements.mostEven(new double[] {10, 0, 90}, 100, 81));
    assertEquals(-1, Placements.mostEven(new double[] {50, 50}, 100, 100));
    assertEquals(-1, Placements.mostEven(new double[] {1, 99}, 100, 0));
  }

  public void testSegmentsThatStayDoNotCount() {
    assertEquals(-1, Placements.mostEven(new double[] {0, 0}, 100, 0));
    assertEquals(-1, Placements.mostEven(new double[0], 0, 0));
  }
}
