package dev.vamana.cuda.select;

import dev.vamana.cuda.kernel.HostLibrary;
import dev.vamana.cuda.select.SelectMethod.Family;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the text form of methods, and the choice among measured ones. */
public class SelectTableTests extends LuceneTestCase {

  private static SelectTable.Point point(int rows, int n, int k, String method) {
    return new SelectTable.Point(rows, n, k, SelectMethod.parse(method));
  }

  public void testMethodsAreReadAsWritten() {
    for (String text : List.of("bits:2048/264", "bits:512", "sample/8", "radix")) {
      assertEquals(text, SelectMethod.parse(text).toString());
    }
    for (String text :
        List.of("", "bits", "bits:777", "warp:128", "warp:128:3", "radix/2", "best")) {
      expectThrows(IllegalArgumentException.class, () -> SelectMethod.parse(text));
    }
  }

  public void testNearestPointThatCanDoItIsChosen() {
    SelectTable table =
        SelectTable.of(
            List.of(
                point(1, 1_000_000, 10, "bits:512/264"),
                point(1, 1_000_000, 100, "bits:1024/132"),
                point(1_000, 1_000_000, 10, "bits:1024"),
                point(1_000, 1_000_000, 100, "bits:2048"),
                point(1_000, 1_000_000, 4_000, "sample")));
    assertEquals("bits:512/264", table.choose(2, 700_000, 5).toString());
    assertEquals("bits:1024/132", table.choose(2, 700_000, 11).toString());
    assertEquals("bits:1024", table.choose(300, 1_000_000, 10).toString());
    // beyond what was measured, or what the nearest can do
    assertEquals("sample", table.choose(300, 1_000_000, 50_000).toString());
    assertEquals("radix", table.choose(300, 3_000, 2_500).toString());
    assertEquals(Family.BITS, table.choose(300, 3_000, 50).family());
  }

  public void testEveryChoiceCanDoIt() {
    SelectTable table = SelectTable.measured();
    for (int round = 0; round < 2_000; round++) {
      int rows = 1 << random().nextInt(14);
      int n = 1 + random().nextInt(1 << random().nextInt(22));
      int k = 1 + random().nextInt(1 << random().nextInt(18));
      assertTrue(table.choose(rows, n, k).accepts(n, k));
    }
  }

  public void testPointsAreReadAsWritten() {
    for (SelectTable.Point point : SelectTable.measured().points()) {
      assertEquals(point, SelectTable.Point.parse(point.toString()));
    }
    expectThrows(
        IllegalArgumentException.class, () -> SelectTable.Point.parse("1 100 10 sorted bits:512"));
    expectThrows(
        IllegalArgumentException.class, () -> SelectTable.Point.parse("1 100 1000 bits:512"));
  }

  public void testRoomForCandidates() {
    HostLibrary library = HostLibrary.load();
    for (int round = 0; round < 1_000; round++) {
      int n = SelectMethod.SAMPLE + random().nextInt(2_000_000);
      int k = 1 + random().nextInt(n - 1);
      SampleBounds bounds = SampleBounds.of(n, k);
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
