package dev.vamana.cuda.select;

import dev.vamana.cuda.kernel.HostLibrary;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the choice among methods, and their memory. */
public class SelectMethodTests extends LuceneTestCase {

  public void testEveryChoiceCanDoIt() {
    for (int round = 0; round < 2_000; round++) {
      int rows = 1 << random().nextInt(14);
      int n = 1 + random().nextInt(1 << random().nextInt(22));
      int k = 1 + random().nextInt(1 << random().nextInt(15));
      SelectMethod method = SelectMethod.of(rows, n, k);
      assertTrue(method.accepts(k));
      assertTrue(method.partitions() >= 1);
      assertTrue(method.equals(SelectMethod.RADIX) || SelectMethod.LISTS.contains(method.size()));
    }
  }

  public void testRoomForPartitions() {
    HostLibrary library = HostLibrary.load();
    for (int k : new int[] {1, 100, SelectMethod.MAX_SHORT_K}) {
      assertEquals(library.vamana_select_scratch_bytes(3, 7, k), Selection.joinedBytes(3, 7, k));
    }
  }
}
