package dev.vamana.cuda.select;

import dev.vamana.cuda.kernel.HostLibrary;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the choice among methods, and their memory. */
public class SelectMethodTests extends LuceneTestCase {

  public void testEveryChoiceCanDoIt() {
    for (int round = 0; round < 2_000; round++) {
      int rows = 1 << random().nextInt(14);
      int n = 1 + random().nextInt(1 << random().nextInt(22));
      int k = 1 + random().nextInt(1 << random().nextInt(18));
      SelectMethod method = SelectMethod.of(rows, n, k);
      assertTrue(method.accepts(n, k));
      assertTrue(method.partitions() >= 1);
      assertEquals(
          method.family() == SelectMethod.Family.BITS, SelectMethod.LISTS.contains(method.size()));
    }
  }

  public void testRoomForCandidates() {
    HostLibrary library = HostLibrary.load();
    for (int round = 0; round < 1_000; round++) {
      int n = SelectMethod.SAMPLE + random().nextInt(2_000_000);
      int k = 1 + random().nextInt(n - 1);
      Selection.Bounds bounds = Selection.Bounds.of(n, k);
      assertTrue(bounds.capacity() > 0 && bounds.capacity() <= n);
      assertTrue(bounds.margin() > 0 && bounds.margin() < 200);
      assertEquals(
          library.vamana_select_scratch_bytes(1, 0, bounds.capacity(), 0),
          Selection.sampleRowBytes(bounds.capacity()));
      int few = 1 + k % SelectMethod.MAX_SHORT_K;
      assertEquals(
          library.vamana_select_scratch_bytes(0, 3, 7, few), Selection.joinedBytes(3, 7, few));
    }
  }
}
