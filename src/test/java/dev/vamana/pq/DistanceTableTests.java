package dev.vamana.pq;

import org.apache.lucene.tests.util.LuceneTestCase;

public class DistanceTableTests extends LuceneTestCase {

  public void testDistanceEqualsThatToTheDecodedVector() {
    for (int round = 0; round < 50; round++) {
      SubspaceLayout layout = PqTestData.randomLayout(random(), 100);
      Codebook codebook = PqTestData.randomCodebook(random(), layout);
      DistanceTable l2 = new DistanceTable(codebook, DistanceTable.Metric.SQUARED_L2);
      DistanceTable product =
          new DistanceTable(codebook, DistanceTable.Metric.NEGATED_INNER_PRODUCT);
      float[] decoded = new float[layout.dims()];
      for (float[] query : PqTestData.gaussian(random(), 3, layout.dims())) {
        l2.setQuery(query);
        product.setQuery(query);
        for (int i = 0; i < 20; i++) {
          int offset = random().nextInt(7);
          byte[] code = new byte[offset + layout.count()];
          random().nextBytes(code);
          codebook.decode(code, offset, decoded);
          double expected = PqTestData.squaredDistance(query, decoded);
          assertEquals(expected, l2.distance(code, offset), 1e-5 * (1 + expected));
          double scale =
              Math.sqrt(PqTestData.innerProduct(query, query))
                  * Math.sqrt(PqTestData.innerProduct(decoded, decoded));
          assertEquals(
              -PqTestData.innerProduct(query, decoded),
              product.distance(code, offset),
              1e-5 * (1 + scale));
        }
      }
    }
  }

  public void testEntriesAreLaidOutBySubspace() {
    SubspaceLayout layout = PqTestData.randomLayout(random(), 40);
    Codebook codebook = PqTestData.randomCodebook(random(), layout);
    float[] query = PqTestData.gaussian(random(), 1, layout.dims())[0];
    DistanceTable table = new DistanceTable(codebook, DistanceTable.Metric.SQUARED_L2, query);
    assertEquals(layout.count() * Codebook.CENTROIDS, table.entries().length);
    for (int s = 0; s < layout.count(); s++) {
      for (int c = 0; c < Codebook.CENTROIDS; c++) {
        double expected = 0;
        int row = Codebook.CENTROIDS * layout.offset(s) + c * layout.length(s);
        for (int d = 0; d < layout.length(s); d++) {
          double difference = (double) query[layout.offset(s) + d] - codebook.centroids()[row + d];
          expected += difference * difference;
        }
        float entry = table.entries()[s * Codebook.CENTROIDS + c];
        assertEquals(expected, entry, 1e-5 * (1 + expected));
      }
    }
  }

  public void testRefusesWrongShapes() {
    Codebook codebook = PqTestData.randomCodebook(random(), new SubspaceLayout(10, 3));
    DistanceTable table = new DistanceTable(codebook, DistanceTable.Metric.SQUARED_L2);
    expectThrows(IllegalArgumentException.class, () -> table.setQuery(new float[11]));
    expectThrows(IndexOutOfBoundsException.class, () -> table.distance(new byte[3], 1));
    expectThrows(IndexOutOfBoundsException.class, () -> table.distance(new byte[3], -1));
  }
}
