package dev.vamana.search;

import java.io.IOException;
import java.util.function.IntPredicate;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/** Tests queries for all vectors above a score, whose collectors have no k of their own. */
public class ThresholdQueryTests extends SearchTestCase {

  private static final int SIZE = 2_000;

  private static TestIndex index(VectorEncoding encoding, int segments) throws IOException {
    return new TestIndex(
        TestVectors.clustered(random(), encoding, randomSimilarity(), SIZE, 16),
        graphs(),
        segments);
  }

  private static Query query(
      QueryVector vector, float threshold, float decay, Query filter, KnnSearchStrategy strategy) {
    return ThresholdQueries.of(FIELD, vector, threshold, decay, filter, strategy);
  }

  private static double recall(
      TestIndex index,
      QueryVector vector,
      int wanted,
      float decay,
      Query filter,
      IntPredicate accepted,
      KnnSearchStrategy strategy)
      throws IOException {
    int[] exact = index.vectors.exact(vector, wanted, accepted);
    float threshold = index.vectors.score(vector, exact[exact.length - 1]);
    // Lucene's scorers may round differently
    float slack = Math.abs(threshold) * 1e-5f;
    TopDocs hits =
        index.searcher.search(query(vector, threshold - slack, decay, filter, strategy), SIZE);
    int[] ids = ids(index.searcher, hits);
    assertWellFormed(index.vectors, vector, hits, ids, accepted);
    for (int id : ids) {
      assertTrue(index.vectors.score(vector, id) >= threshold - 2 * slack);
    }
    return index.vectors.recall(vector, wanted, accepted, ids);
  }

  private static void assertFindsMost(TestIndex index, KnnSearchStrategy strategy)
      throws IOException {
    for (float decay : new float[] {0, 0.5f, 0.9f}) {
      for (int wanted : new int[] {3, 40, 400}) {
        double sum = 0;
        for (int i = 0; i < 10; i++) {
          QueryVector vector = index.vectors.get(random().nextInt(SIZE));
          sum += recall(index, vector, wanted, decay, null, ALL, strategy) / 10;
        }
        assertTrue("recall " + sum + ", decay " + decay + ", wanted " + wanted, sum > 0.35);
      }
    }
  }

  public void testFindsMost() throws IOException {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      try (TestIndex index = index(encoding, 1)) {
        assertFalse(SearchPlan.scan(index.view(), 1, SIZE));
        assertFindsMost(index, null);
      }
    }
  }

  public void testInstalledExecutorIsNotAsked() throws IOException {
    try (TestIndex index = index(randomEncoding(), 1)) {
      RecordingExecutor executor = new RecordingExecutor();
      try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
        assertSame(executor, installation.executor());
        assertFindsMost(index, null);
      }
      assertEquals(0, executor.items.size());
    }
  }

  public void testFilters() throws IOException {
    try (TestIndex index = index(randomEncoding(), 3)) {
      for (int limit : new int[] {1, 10, SIZE / 20, SIZE / 2, SIZE}) {
        QueryVector vector = index.vectors.get(random().nextInt(SIZE));
        for (int wanted : new int[] {1, 30}) {
          double recall =
              recall(index, vector, wanted, 0.5f, index.filter(limit), index.accepted(limit), null);
          if (limit <= SIZE / 20) {
            assertEquals("limit " + limit, 1, recall, 0);
          }
        }
      }
    }
  }
}
