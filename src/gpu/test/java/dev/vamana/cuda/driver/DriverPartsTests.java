package dev.vamana.cuda.driver;

import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests result codes. */
public class DriverPartsTests extends LuceneTestCase {

  public void testResultCodes() {
    Map<GpuException.Kind, int[]> codes =
        Map.of(
            GpuException.Kind.OUT_OF_MEMORY, new int[] {2},
            GpuException.Kind.NOT_SUPPORTED, new int[] {800, 801},
            GpuException.Kind.UNAVAILABLE, new int[] {34, 46, 100, 101, 209, 222, 803},
            GpuException.Kind.CONTEXT_LOST,
                new int[] {
                  4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999
                },
            GpuException.Kind.FAILED, new int[] {1, 3, 201, 304, 400, 500, 701, 712, 713, 12345});
    codes.forEach(
        (kind, results) -> {
          for (int result : results) {
            assertEquals("" + result, kind, CudaErrors.kind(result));
          }
        });
    GpuException e = CudaErrors.failure(700, "cuMemFree");
    assertEquals("cuMemFree answered CUDA_ERROR_ILLEGAL_ADDRESS (700)", e.getMessage());
    assertTrue(e.contextLost());
  }
}
