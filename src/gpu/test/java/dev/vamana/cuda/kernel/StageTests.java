package dev.vamana.cuda.kernel;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.DistanceTable;
import dev.vamana.pq.SubspaceLayout;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.VectorUtil;

/** Compares scores, distance tables and number formats of the kernels with Java's. */
public class StageTests extends KernelTestCase {

  private static float[] gaussian(int length, float deviation) {
    float[] vector = new float[length];
    for (int d = 0; d < length; d++) {
      vector[d] = (float) random().nextGaussian() * deviation;
    }
    return vector;
  }

  private static float norm(float[] vector) {
    return (float) Math.sqrt(VectorUtil.dotProduct(vector, vector));
  }

  public void testScoresOfFloatsAreLucenes() {
    for (int round = 0; round < 2000; round++) {
      VectorSimilarityFunction similarity = randomSimilarity();
      int dimension = TestUtil.nextInt(random(), 1, 1 << random().nextInt(13));
      float[] query = gaussian(dimension, random().nextBoolean() ? 1 : 50);
      float[] vector = random().nextInt(10) == 0 ? query.clone() : gaussian(dimension, 1);
      if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
        VectorUtil.l2normalize(query);
        VectorUtil.l2normalize(vector);
      }
      float expected = similarity.compare(query, vector);
      float actual = library.vamana_score(similarity.ordinal(), dimension, query, vector);
      // cosines are of vectors of length one, however short these are
      float norms = similarity == VectorSimilarityFunction.COSINE ? 1 : norm(query) * norm(vector);
      float scale = Math.max(Math.abs(expected), norms);
      assertEquals(similarity + " " + dimension, expected, actual, 1e-5f * scale);
    }
  }

  /** At every dimension, with the largest sums that there are, to the last bit. */
  public void testScoresOfBytesAreLucenes() {
    for (int round = 0; round < 2000; round++) {
      VectorSimilarityFunction similarity = randomSimilarity();
      int dimension = TestUtil.nextInt(random(), 1, round % 2 == 0 ? 300 : 4096);
      byte[][] vectors = ByteVectors.wide(random(), 2, dimension);
      byte[] query = vectors[0];
      byte[] vector = random().nextInt(10) == 0 ? query : vectors[1];
      float expected = similarity.compare(query, vector);
      float actual = library.vamana_byte_score(similarity.ordinal(), dimension, query, vector);
      assertEquals(similarity + " " + dimension, expected, actual, 0);
    }
  }

  public void testQueriesInTwoBytesAComponent() {
    for (int i = 0; i < 10_000; i++) {
      float largest = (float) Math.pow(10, random().nextInt(60) - 30) * (1 + random().nextFloat());
      float step = library.vamana_query_step(largest);
      assertEquals(step, Float.intBitsToFloat(Float.floatToIntBits(step) & 0x7F800000), 0);
      assertTrue(step * 32_639 >= largest);
      assertTrue(step * 32_639 / 2 <= largest || step == Float.MIN_NORMAL);
      float component = largest * (2 * random().nextFloat() - 1);
      assertEquals(component, library.vamana_query_component(component, step), step / 2);
      assertEquals(largest, library.vamana_query_component(largest, step), step / 2);
    }
    for (float none : new float[] {0, Float.NaN, Float.POSITIVE_INFINITY}) {
      assertEquals(1f, library.vamana_query_step(none), 0);
    }
    for (int value = -32_639; value <= 32_639; value++) {
      assertEquals(value, library.vamana_query_component(value, 1), 0);
    }
    // bytes of a segment: the high byte is the component
    for (int value = -128; value < 128; value++) {
      assertEquals(value, library.vamana_query_component(value, 1f / 256), 0);
    }
  }

  public void testScoreOfAZeroVector() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      float[] query = {1, 2};
      float actual = library.vamana_score(similarity.ordinal(), 2, query, new float[2]);
      if (similarity == VectorSimilarityFunction.COSINE) {
        // Lucene's assertions, which are on in tests, refuse to answer; without them it says NaN
        assertEquals(Float.NaN, actual, 0);
      } else {
        assertEquals(similarity.compare(query, new float[2]), actual, 0);
      }
    }
  }

  private static VectorSimilarityFunction randomSimilarity() {
    return VectorSimilarityFunction.values()[random().nextInt(4)];
  }

  public void testSubspaces() {
    for (int round = 0; round < 500; round++) {
      SubspaceLayout layout = randomLayout();
      for (int s = 0; s < layout.count(); s++) {
        assertEquals(
            layout.offset(s), library.vamana_subspace_offset(layout.dims(), layout.count(), s));
      }
      assertEquals(
          layout.dims(),
          library.vamana_subspace_offset(layout.dims(), layout.count(), layout.count()));
    }
  }

  private static SubspaceLayout randomLayout() {
    int dims = TestUtil.nextInt(random(), 1, 1 << random().nextInt(10));
    return new SubspaceLayout(dims, 1 + random().nextInt(Math.min(dims, 256)));
  }

  /** A codebook, its columns and its largest norms as kernels take them. */
  private record Case(
      VectorSimilarityFunction similarity,
      SubspaceLayout layout,
      Codebook codebook,
      float[] columns,
      float[] norms) {

    static Case random(boolean integers, float deviation) {
      SubspaceLayout layout = randomLayout();
      float[] centroids = gaussian(Codebook.CENTROIDS * layout.dims(), deviation);
      if (integers) {
        for (int i = 0; i < centroids.length; i++) {
          centroids[i] = Math.round(centroids[i]);
        }
      }
      float[] columns = new float[centroids.length];
      float[] norms = new float[layout.count()];
      int at = 0;
      for (int s = 0; s < layout.count(); s++) {
        for (int c = 0; c < Codebook.CENTROIDS; c++) {
          double norm2 = 0;
          for (int d = layout.offset(s); d < layout.offset(s) + layout.length(s); d++, at++) {
            columns[d * Codebook.CENTROIDS + c] = centroids[at];
            norm2 += (double) centroids[at] * centroids[at];
          }
          norms[s] = Math.max(norms[s], (float) Math.sqrt(norm2));
        }
      }
      Codebook codebook = new Codebook(CodebookId.random(), layout, centroids);
      return new Case(randomSimilarity(), layout, codebook, columns, norms);
    }

    DistanceTable expected(float[] query) {
      float[] vector = query.clone();
      if (similarity == VectorSimilarityFunction.COSINE) {
        VectorUtil.l2normalize(vector, false);
      }
      return new DistanceTable(
          codebook,
          similarity == VectorSimilarityFunction.EUCLIDEAN
              ? DistanceTable.Metric.SQUARED_L2
              : DistanceTable.Metric.NEGATED_INNER_PRODUCT,
          vector);
    }

    float[] actual(float[] query, boolean halves) {
      float[] table = new float[layout.count() * Codebook.CENTROIDS];
      library.vamana_table(
          similarity.ordinal(),
          layout.dims(),
          layout.count(),
          columns,
          norms,
          query,
          halves ? 1 : 0,
          table);
      return table;
    }
  }

  public void testTablesAndSumsAreThoseOfDistanceTable() {
    for (int round = 0; round < 100; round++) {
      boolean integers = random().nextBoolean();
      Case c = Case.random(integers, integers ? 6 : 1);
      float[] query = gaussian(c.layout().dims(), 1);
      if (integers) {
        for (int d = 0; d < query.length; d++) {
          query[d] = Math.round(query[d] * 6);
        }
      }
      DistanceTable expected = c.expected(query);
      float[] actual = c.actual(query, false);
      // integers are added up without rounding, a query of unit length holds none
      boolean exact = integers && c.similarity() != VectorSimilarityFunction.COSINE;
      float tolerance = exact ? 0 : 1e-5f * (1 + largest(expected.entries()));
      assertArrayEquals(expected.entries(), actual, tolerance);
      byte[] code = new byte[c.layout().count()];
      for (int i = 0; i < 20; i++) {
        random().nextBytes(code);
        assertEquals(
            expected.distance(code, 0),
            library.vamana_code_sum(actual, code, code.length),
            tolerance * code.length);
      }
    }
  }

  /** Whatever the magnitude, no half overflows and the largest keep all their bits. */
  public void testFixedPointEntriesAreWhatTheyStandFor() {
    for (int round = 0; round < 60; round++) {
      Case c = Case.random(false, (float) Math.pow(10, random().nextInt(13) - 6));
      float[] query = gaussian(c.layout().dims(), (float) Math.pow(10, random().nextInt(13) - 6));
      float[] expected = c.expected(query).entries();
      float[] fixed = c.actual(query, true);
      float rounding = largest(expected) * 0x1p-20f;
      // fixed-point tables leave out the smallest entry of each subspace
      for (int from = 0; from < expected.length; from += 256) {
        float smallest = expected[from];
        for (int i = from; i < from + 256; i++) {
          smallest = Math.min(smallest, expected[i]);
        }
        for (int i = from; i < from + 256; i++) {
          expected[i] -= smallest;
        }
      }
      float widest = largest(expected);
      int at = 0;
      while (expected[at] != widest) {
        at++;
      }
      if (widest <= rounding) {
        continue;
      }
      assertTrue(Float.toString(fixed[at]), fixed[at] >= 1_000 && fixed[at] <= 65_535);
      // the power of two that the entries were scaled by
      float unit = 1 / Math.scalb(1f, Math.round(log2(fixed[at] / widest)));
      for (int i = 0; i < fixed.length; i++) {
        assertEquals(Math.rint(fixed[i]), fixed[i], 0);
        assertEquals(expected[i], fixed[i] * unit, unit * 0.5f + rounding);
      }
    }
  }

  private static float log2(float value) {
    return (float) (Math.log(value) / Math.log(2));
  }

  private static float largest(float[] values) {
    float largest = 0;
    for (float value : values) {
      largest = Math.max(largest, Math.abs(value));
    }
    return largest;
  }

  public void testScaleOfRangesThatAreNone() {
    for (float range : new float[] {0, Float.NaN, Float.POSITIVE_INFINITY, Float.MAX_VALUE}) {
      assertEquals(1f, library.vamana_fixed_scale(range), 0);
    }
    assertEquals(1f, library.vamana_fixed_scale(65_535), 0);
    assertEquals(0.5f, library.vamana_fixed_scale(65_536), 0);
    assertEquals(0x1p15f, library.vamana_fixed_scale(1), 0);
  }

  public void testHalvesAreJavas() {
    for (int half = 0; half < 1 << 16; half++) {
      float expected = Float.float16ToFloat((short) half);
      float actual = library.vamana_half_value(half);
      assertEquals(expected, actual, 0);
      if (Float.isNaN(expected) == false) {
        assertEquals(half, library.vamana_to_half(actual));
        float between = (expected + Float.float16ToFloat((short) (half + 1))) / 2;
        assertHalf(between);
        assertHalf(Math.nextUp(between));
        assertHalf(Math.nextDown(between));
      }
    }
    for (int i = 0; i < 10_000; i++) {
      assertHalf(Float.intBitsToFloat(random().nextInt()));
    }
  }

  private static void assertHalf(float value) {
    if (Float.isNaN(value) == false) {
      assertEquals(
          Float.toString(value),
          Float.floatToFloat16(value) & 0xFFFF,
          library.vamana_to_half(value));
    }
  }
}
