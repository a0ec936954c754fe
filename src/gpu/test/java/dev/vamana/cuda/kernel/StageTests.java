package dev.vamana.cuda.kernel;

import dev.vamana.pq.SubspaceLayout;
import org.apache.lucene.tests.util.TestUtil;

/** Compares number formats and the division into subspaces of the kernels with Java's. */
public class StageTests extends KernelTestCase {

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
