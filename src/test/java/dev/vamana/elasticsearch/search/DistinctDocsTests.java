package dev.vamana.elasticsearch.search;

import java.util.Arrays;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Dense documents are marked, others sorted; both tell the same. */
public class DistinctDocsTests extends LuceneTestCase {

  private static void assertDistinct(int[] docs, int count) {
    int[] given = docs.clone();
    DistinctDocs distinct = DistinctDocs.of(docs, count);
    assertArrayEquals("the argument was changed", given, docs);
    int[] expected = Arrays.stream(docs, 0, count).sorted().distinct().toArray();
    assertArrayEquals(expected, distinct.docs());
    for (int i = 0; i < expected.length; i++) {
      assertEquals(i, distinct.position(expected[i]));
    }
  }

  public void testRandomDocuments() {
    for (int round = 0; round < 200; round++) {
      int count = random().nextInt(300);
      // from many duplicates to ranges that are not marked
      int range = 1 + random().nextInt(1 << (1 + random().nextInt(16)));
      int first = random().nextInt(1_000_000);
      int[] docs = new int[count + random().nextInt(3)];
      for (int i = 0; i < docs.length; i++) {
        docs[i] = first + random().nextInt(range);
      }
      assertDistinct(docs, count);
    }
  }

  public void testEnds() {
    assertDistinct(new int[0], 0);
    assertDistinct(new int[] {0}, 1);
    assertDistinct(new int[] {Integer.MAX_VALUE - 1, 0}, 2);
    assertDistinct(new int[] {64, 0, 63, 127, 128, 64}, 6);
    assertDistinct(new int[] {Integer.MAX_VALUE - 1, Integer.MAX_VALUE - 63}, 2);
  }
}
