package dev.vamana.graph;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.tests.util.LuceneTestCase;

public class GraphRowsTests extends LuceneTestCase {

  public void testRows() throws IOException {
    int degree = 4 + random().nextInt(60);
    int size = 20_000 + random().nextInt(20_000);
    try (GraphRows rows =
        new GraphRows(size, degree, MemoryBudget.halfOfHeap(), AbortCheck.NEVER)) {
      assertEquals(0, rows.degree(size - 1));
      check(rows, degree);
    }
  }

  private static void check(GraphRows rows, int degree) {
    int size = rows.size();
    int[] row = new int[rows.maxDegree()];
    float[] distances = new float[rows.maxDegree()];
    for (int ordinal = 0; ordinal < size; ordinal++) {
      Arrays.fill(row, ordinal);
      Arrays.fill(distances, ordinal);
      rows.setRow(ordinal, row, distances, 1 + ordinal % degree);
      rows.append(ordinal, -ordinal, -1);
    }
    for (int ordinal = 0; ordinal < size; ordinal++) {
      assertEquals(1 + ordinal % degree, rows.settled(ordinal));
      int count = rows.row(ordinal, row, distances);
      assertEquals(2 + ordinal % degree, count);
      for (int i = 0; i < count - 1; i++) {
        assertEquals(ordinal, row[i]);
        assertEquals(ordinal, distances[i], 0f);
      }
      assertEquals(-ordinal, row[count - 1]);
      assertTrue(rows.contains(ordinal, -ordinal));
      assertFalse(rows.contains(ordinal, size));
      // a replaced neighbour was never compared with the others
      rows.replace(ordinal, count - 2, size, 0);
      assertEquals(count - 2, rows.settled(ordinal));
      assertEquals(count, rows.degree(ordinal));
      assertTrue(rows.contains(ordinal, size));
    }
  }
}
