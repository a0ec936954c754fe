package dev.vamana.elasticsearch.codebook.train;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import org.junit.Test;

public class MergedSamplesTests {

  private static int[] shares(int most, long[] seen, long[] held) {
    return MergedSamples.shares(most, seen, held);
  }

  @Test
  public void testANodeGivesByWhatItHasSeen() {
    assertArrayEquals(
        new int[] {100, 300}, shares(400, new long[] {1_000, 3_000}, new long[] {400, 400}));
    assertArrayEquals(new int[] {250}, shares(400, new long[] {250}, new long[] {250}));
    assertArrayEquals(
        new int[] {100, 200}, shares(400, new long[] {100, 200}, new long[] {100, 200}));
    assertArrayEquals(new int[0], shares(400, new long[0], new long[0]));
  }

  /** One that has seen much and, for want of memory, holds little makes the whole smaller. */
  @Test
  public void testProportionsStayWhereANodeHasLess() {
    int[] shares = shares(1_000, new long[] {9_000, 1_000}, new long[] {300, 1_000});
    assertEquals(300, shares[0]);
    assertEquals(33, shares[1]);
  }

  @Test
  public void testLargeNumbers() {
    long much = Long.MAX_VALUE / 4;
    assertArrayEquals(
        new int[] {500, 500}, shares(1_000, new long[] {much, much}, new long[] {1_000, 1_000}));
  }
}
