package dev.vamana.cuda.kernel;

import dev.vamana.cuda.kernel.WalkShape.Reads;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests plans on both sides of every boundary, and that all supported shapes fit. */
public class SharedMemoryPlanTests extends LuceneTestCase {

  private static final int HOPPER = 232_448;

  private static WalkShape shape(
      Reads reads, int dimension, int subspaces, int beam, int stride, int parents) {
    return WalkShape.of(reads, dimension, subspaces, beam, stride, parents, 0, false);
  }

  private static SharedMemoryPlan plan(WalkShape shape, int device) {
    return SharedMemoryPlan.of(shape, device, Tuning.DEFAULT);
  }

  /** The largest of everything fits a device of compute capability 9.0. */
  public void testLimitsFit() {
    for (Reads reads : Reads.values()) {
      WalkShape shape =
          shape(
              reads,
              Limits.MAX_DIMENSION,
              Limits.MAX_SUBSPACES,
              Limits.MAX_BEAM_WIDTH,
              Limits.MAX_DEGREE,
              Limits.MAX_PARENTS);
      assertNotNull(plan(shape, HOPPER));
    }
  }

  public void testWhatNoKernelTakes() {
    assertNull(shape(Reads.FLOAT32, 4097, 0, 10, 64, 1));
    assertNotNull(shape(Reads.FLOAT32, 4096, 0, 10, 64, 1));
    assertNull(shape(Reads.CODES, 512, 257, 10, 64, 1));
    assertNotNull(shape(Reads.CODES, 512, 256, 10, 64, 1));
    assertNull(shape(Reads.CODES, 512, 0, 10, 64, 1));
    assertNull(shape(Reads.FLOAT32, 16, 0, 10_001, 64, 1));
    assertNotNull(shape(Reads.FLOAT32, 16, 0, 10_000, 64, 1));
    assertNull(shape(Reads.FLOAT32, 16, 0, 10, 132, 1));
    assertNotNull(shape(Reads.FLOAT32, 16, 0, 10, 128, 1));
    assertNull(shape(Reads.FLOAT32, 16, 0, 10, 64, 65));
    assertNotNull(shape(Reads.FLOAT32, 16, 0, 10, 64, 64));
    int most = WalkShape.MAX_FRESH;
    assertNotNull(WalkShape.of(Reads.BYTE, 16, 0, 10, 64, 1, most - 1, false));
    assertNull(WalkShape.of(Reads.BYTE, 16, 0, 10, 64, 1, most, false));
  }
}
