package dev.vamana.tools.benchmark;

import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

public class OptionsTests extends LuceneTestCase {

  public void testRejections() {
    assertRejected("set is missing");
    assertRejected("unknown argument '--seed=1'", "--set=s", "--seed=1");
    assertRejected("unknown argument 'set'", "set");
    assertRejected("limit is 0", "--set=s", "--limit=0");
    assertRejected("rounds is 'x'", "--set=s", "--rounds=x");
    assertRejected("widths is 9, allowed is a number >= 10", "--set=s", "--widths=10,9");
    assertRejected("metric is 'hamming'", "--set=s", "--metric=hamming");
  }

  public void testContenders() {
    assertTrue(Contenders.standard(784).contains("jvector-pq8"));
    assertFalse(Contenders.standard(784).contains("jvector-pq2"));
    assertTrue(Contenders.standard(128).contains("jvector-pq2"));
    assertEquals(
        List.of("jvector-exact", "lucene-m16-b100"),
        List.copyOf(Contenders.choose(List.of("jvector-exact", "lucene-m16-b100"))));
    String message =
        expectThrows(IllegalArgumentException.class, () -> Contenders.choose(List.of("faiss")))
            .getMessage();
    assertTrue(message, message.contains("'faiss'") && message.contains("lucene-m32-b200"));
    assertTrue(Contenders.isBar("lucene-m16-b100") && Contenders.isBar("jvector-pq4"));
    assertFalse(Contenders.isBar("jvector-exact") || Contenders.isBar("vamana"));
  }

  private static void assertRejected(String part, String... arguments) {
    String message =
        expectThrows(IllegalArgumentException.class, () -> Options.parse(arguments)).getMessage();
    assertTrue(message, message.contains(part));
  }
}
