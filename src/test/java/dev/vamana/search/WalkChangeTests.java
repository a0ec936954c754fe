package dev.vamana.search;

import org.apache.lucene.tests.util.LuceneTestCase;

/** What an index or a request changes in walks. */
public class WalkChangeTests extends LuceneTestCase {

  public void testNoneChangesNothing() {
    WalkParameters walk = WalkParameters.quantized(40, 80).withParents(3);
    assertTrue(WalkChange.NONE.isNone());
    assertEquals(walk, WalkChange.NONE.applyTo(walk));
  }

  public void testEachValueByItself() {
    WalkParameters walk = WalkParameters.quantized(40, 80);
    assertEquals(90, new WalkChange(90, 0, 0).applyTo(walk).beamWidth());
    assertEquals("never narrower", 40, new WalkChange(7, 0, 0).applyTo(walk).beamWidth());
    assertEquals(4, new WalkChange(0, 4, 0).applyTo(walk).parents());
    assertEquals(9, new WalkChange(0, 0, 9).applyTo(walk).rerankDepth());
    assertEquals(
        WalkParameters.Distances.QUANTIZED, new WalkChange(1, 1, 1).applyTo(walk).distances());
  }

  public void testARequestGoesBeforeItsIndex() {
    WalkChange request = new WalkChange(0, 4, 0);
    WalkChange index = new WalkChange(200, 2, 50);
    assertEquals(new WalkChange(200, 4, 50), request.orElse(index));
    assertEquals(index, WalkChange.NONE.orElse(index));
  }

  public void testRanges() {
    for (int[] bad : new int[][] {{-1, 0, 0}, {10_001, 0, 0}, {0, 65, 0}, {0, 0, 10_001}}) {
      IllegalArgumentException e =
          expectThrows(
              IllegalArgumentException.class, () -> new WalkChange(bad[0], bad[1], bad[2]));
      assertTrue(e.getMessage(), e.getMessage().contains("must be between 0 and"));
    }
  }
}
