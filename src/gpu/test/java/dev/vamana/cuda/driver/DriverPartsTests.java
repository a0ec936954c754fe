package dev.vamana.cuda.driver;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests result codes and handles. */
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

  public void testHandlesFindTheirObjects() {
    HandleTable<String> table = new HandleTable<>("thing");
    Map<Long, String> expected = new HashMap<>();
    List<Long> removed = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      if (expected.isEmpty() || random().nextInt(5) < 3) {
        String value = "value " + i;
        long handle = table.add(value);
        assertNotEquals(0, handle);
        assertNull("a handle is not used again", expected.put(handle, value));
        assertFalse(removed.contains(handle));
      } else {
        long handle = List.copyOf(expected.keySet()).get(random().nextInt(expected.size()));
        assertEquals(expected.remove(handle), table.remove(handle));
        removed.add(handle);
      }
      expected.forEach((handle, value) -> assertEquals(value, table.get(handle)));
    }
    for (long handle : removed) {
      expectThrows(IllegalArgumentException.class, () -> table.get(handle));
    }
    for (long handle : new long[] {0, -1, Long.MIN_VALUE, Integer.MAX_VALUE}) {
      IllegalArgumentException e =
          expectThrows(IllegalArgumentException.class, () -> table.remove(handle));
      assertTrue(e.getMessage(), e.getMessage().contains("no thing has the number " + handle));
    }
  }
}
