package dev.vamana.cuda.kernel;

import dev.vamana.pq.SubspaceLayout;
import org.apache.lucene.tests.util.TestUtil;

/** Compares number formats and the division into subspaces of the kernels with Java's. */
public class StageTests extends KernelTestCase {

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
