package dev.vamana.graph;

import java.util.Arrays;
import org.apache.lucene.tests.util.LuceneTestCase;

public class GraphRowsTests extends LuceneTestCase {

  /** Larger arrays take whole regions of the collector: twice the memory on small heaps. */
  public void testPagesAreSmallEnoughForSmallRegions() {
    for (int degree = BuildParameters.MIN_DEGREE; degree <= BuildParameters.MAX_DEGREE; degree++) {
      int rowLength = new GraphRows(1, degree).maxDegree();
      long bytes = ((long) rowLength << GraphRows.pageBits(rowLength)) * Integer.BYTES;
      assertTrue(degree + ": " + bytes, bytes >= 100_000 && bytes < 512 * 1024 - 16);
    }
  }

  public void testRowsOfSeveralPages() {
    int degree = 4 + random().nextInt(60);
    int size = 20_000 + random().nextInt(20_000);
    GraphRows rows = new GraphRows(size, degree);
    int[] row = new int[rows.maxDegree()];
    float[] distances = new float[rows.maxDegree()];
    for (int ordinal = 0; ordinal < size; ordinal++) {
      Arrays.fill(row, ordinal);
      Arrays.fill(distances, ordinal);
      rows.setRow(ordinal, row, distances, 1 + ordinal % degree);
      rows.append(ordinal, -ordinal, -1);
    }
    for (int ordinal = 0; ordinal < size; ordinal++) {
      int count = rows.row(ordinal, row, distances);
      assertEquals(2 + ordinal % degree, count);
      for (int i = 0; i < count - 1; i++) {
        assertEquals(ordinal, row[i]);
        assertEquals(ordinal, distances[i], 0f);
      }
      assertEquals(-ordinal, row[count - 1]);
    }
  }
}
