package dev.vamana.graph;

import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import org.junit.Test;

/** Widths of all parameters are usable. */
public class SearchWidthsTests extends RandomizedTest {

  @Test
  public void nodesAreKeptAndExpanded() {
    for (int degree = BuildParameters.MIN_DEGREE; degree <= BuildParameters.MAX_DEGREE; degree++) {
      for (int beam = degree; beam <= BuildParameters.MAX_BEAM_WIDTH; beam += 1 + beam / 8) {
        BuildParameters parameters = new BuildParameters(degree, beam, 1.2f, 0);
        assertWidths(SearchWidths.even(parameters));
        assertWidths(SearchWidths.first(parameters));
        assertWidths(SearchWidths.second(parameters));
        assertTrue(SearchWidths.first(parameters).kept() <= SearchWidths.even(parameters).kept());
      }
    }
  }

  private static void assertWidths(SearchWidths widths) {
    assertTrue(widths.toString(), widths.expanded() >= 1 && widths.expanded() <= widths.kept());
  }
}
