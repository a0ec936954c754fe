package dev.vamana.elasticsearch.codebook.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.Test;

public class ReservoirTests {

  private static Reservoir sorted(int capacity, int count, long seed) {
    Reservoir reservoir = new Reservoir(capacity, seed);
    for (int i = 0; i < count; i++) {
      reservoir.offer(new float[] {i});
    }
    return reservoir;
  }

  /**
   * Every tenth of a sorted stream is in the samples as often as every other. With 200 samples of
   * 100 a tenth is expected 2,000 times, with a standard deviation of 42.
   */
  @Test
  public void testLateVectorsAreInTheSampleAsOftenAsEarlyOnes() {
    int[] tenths = new int[10];
    for (int seed = 0; seed < 200; seed++) {
      for (float[] row : sorted(100, 5_000, seed).shuffled(1)) {
        tenths[(int) row[0] / 500]++;
      }
    }
    for (int tenth : tenths) {
      assertTrue("count " + tenth, Math.abs(tenth - 2_000) < 5 * 42);
    }
  }

  /** So is every tenth in the first part of the shuffled rows, where rows stand by their age. */
  @Test
  public void testFirstRowsOfTheShuffledAreAUniformSampleToo() {
    int[] tenths = new int[10];
    for (int seed = 0; seed < 200; seed++) {
      for (float[] row : sorted(500, 600, seed).shuffled(seed).subList(0, 50)) {
        tenths[(int) row[0] / 60]++;
      }
    }
    for (int tenth : tenths) {
      assertTrue("count " + tenth, Math.abs(tenth - 1_000) < 5 * 30);
    }
  }

  @Test
  public void testHoldsAllUntilFull() {
    Reservoir reservoir = sorted(100, 60, 7);
    assertEquals(60, reservoir.size());
    assertEquals(60, reservoir.seen());
    Set<Float> values = new HashSet<>();
    reservoir.shuffled(3).forEach(row -> values.add(row[0]));
    assertEquals(60, values.size());
    assertEquals(100, sorted(100, 1_000, 7).size());
  }

  @Test
  public void testTheSeedDecides() {
    List<float[]> once = sorted(50, 1_000, 11).shuffled(5);
    List<float[]> again = sorted(50, 1_000, 11).shuffled(5);
    for (int i = 0; i < 50; i++) {
      assertEquals(once.get(i)[0], again.get(i)[0], 0f);
    }
  }
}
