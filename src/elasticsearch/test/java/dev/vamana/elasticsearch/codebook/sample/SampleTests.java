package dev.vamana.elasticsearch.codebook.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;
import org.junit.Test;

public class SampleTests {

  private static List<float[]> sorted(int capacity, int count, long seed) {
    VectorSpace space = new VectorSpace(1, VectorSimilarity.L2_NORM);
    Sample sample =
        new Sample(new SampleOptions(space, 0, capacity, 1_000), new SampleMemory(1 << 20), seed);
    for (int i = 0; i < count; i++) {
      sample.offer(new float[] {i});
    }
    assertEquals(count, sample.status("").seen());
    return sample.rows();
  }

  /**
   * Every tenth of a sorted stream is in the samples as often as every other. With 100 samples of
   * 256 a tenth is expected 2,560 times, with a standard deviation of 47.
   */
  @Test
  public void testLateVectorsAreInTheSampleAsOftenAsEarlyOnes() {
    int[] tenths = new int[10];
    for (int seed = 0; seed < 100; seed++) {
      for (float[] row : sorted(256, 5_000, seed)) {
        tenths[(int) row[0] / 500]++;
      }
    }
    for (int tenth : tenths) {
      assertTrue("count " + tenth, Math.abs(tenth - 2_560) < 5 * 47);
    }
  }
}
