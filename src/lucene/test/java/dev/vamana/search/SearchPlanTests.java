package dev.vamana.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;

/** Tests which segments are scanned. */
public class SearchPlanTests extends SearchTestCase {

  private static final int MAX_DEGREE = 12;

  private static TestIndex index(int size, int dimension) throws IOException {
    TestVectors vectors =
        TestVectors.clustered(
            random(), VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, size, dimension);
    VamanaParameters parameters =
        VamanaParameters.DEFAULT
            .withGraph(MAX_DEGREE, 32, 1.2f)
            .withThresholds(0, Integer.MAX_VALUE);
    return new TestIndex(vectors, new VamanaVectorsFormat(parameters, Workers.callingThread()), 1);
  }

  /** A walk of this beam computes half as many distances as a scan, of twice the cost or more. */
  public void testScansWhereTheCacheHoldsTheVectors() throws IOException {
    int size = 612;
    try (TestIndex index = index(size, 128)) {
      SegmentView segment = index.view();
      int k = 40;
      assertTrue(SearchPlan.visits(size, segment.meanDegree(), k) < 0.6 * size);
      assertTrue(SearchPlan.scan(segment, k, size));
      QueryVector query = index.vectors.get(random().nextInt(size));
      TopKnnCollector collector = new TopKnnCollector(k, Integer.MAX_VALUE);
      AcceptDocs all = AcceptDocs.fromLiveDocs(null, size);
      index
          .reader
          .leaves()
          .get(0)
          .reader()
          .searchNearestVectors(FIELD, query.floats(), collector, all);
      assertEquals(size, collector.visitedCount());
      TopDocs hits = collector.topDocs();
      assertEquals(1, index.vectors.recall(query, k, ALL, ids(index.searcher, hits)), 0);
    }
  }

  public void testWalksWhereAScanCostsMore() throws IOException {
    try (TestIndex index = index(2_000, 32)) {
      assertFalse(SearchPlan.scan(index.view(), 10, 2_000));
    }
  }

  public void testCostOfAScannedDistance() throws IOException {
    double before = 0;
    for (int dimension : new int[] {2, 128, 512}) {
      try (TestIndex index = index(300, dimension)) {
        double cost = SearchPlan.scanCost(index.view());
        assertTrue(dimension + ": " + cost + " after " + before, cost > before);
        assertTrue(dimension + ": " + cost, cost < 0.6);
        before = cost;
      }
    }
    // more than caches hold
    try (TestIndex index = index(300, 4_096)) {
      assertEquals(2.0 / 3, SearchPlan.scanCost(index.view()), 0);
    }
  }
}
