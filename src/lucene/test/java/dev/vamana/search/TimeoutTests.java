package dev.vamana.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.QueryTimeout;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/** Tests searches that are ended by a timeout or a cancellation. */
public class TimeoutTests extends SearchTestCase {

  private static final int SIZE = 2_000;
  private static final int K = 40;

  /** Fires after so many checks. */
  private static final class Countdown implements QueryTimeout {
    private final AtomicInteger left;

    Countdown(int checks) {
      this.left = new AtomicInteger(checks);
    }

    @Override
    public boolean shouldExit() {
      return left.decrementAndGet() < 0;
    }
  }

  private static TestVectors data(VectorEncoding encoding) {
    return TestVectors.clustered(random(), encoding, randomSimilarity(), SIZE, 16);
  }

  private static void assertEndsEarly(TestIndex index, KnnSearchStrategy strategy, int step)
      throws IOException {
    assertEndsEarly(index, strategy, step, 0, 1, 2, 5, 8);
  }

  private static void assertEndsEarly(
      TestIndex index, KnnSearchStrategy strategy, int step, int... allowed) throws IOException {
    QueryVector vector = index.vectors.get(random().nextInt(SIZE));
    index.searcher.setTimeout(null);
    CountedQuery full = new CountedQuery(FIELD, vector, K, null, strategy);
    assertEquals(K, index.searcher.search(full.query(), K).scoreDocs.length);
    for (int checks : allowed) {
      index.searcher.setTimeout(new Countdown(checks));
      CountedQuery query = new CountedQuery(FIELD, vector, K, null, strategy);
      // the kNN search happens in the rewrite; the rest of a search would time out by itself
      var rewritten = query.query().rewrite(index.searcher);
      index.searcher.setTimeout(null);
      TopDocs hits = index.searcher.search(rewritten, K);
      int[] ids = ids(index.searcher, hits);
      assertTrue(ids.length <= K);
      assertWellFormed(index.vectors, vector, hits, ids, ALL);
      assertTrue(
          "visited " + query.visited() + " after " + checks + " checks",
          query.visited() <= (checks + 2L) * step);
      assertTrue(query.visited() < full.visited());
    }
    index.searcher.setTimeout(new Countdown(Integer.MAX_VALUE));
    CountedQuery unhurried = new CountedQuery(FIELD, vector, K, null, strategy);
    assertEquals(K, index.searcher.search(unhurried.query(), K).scoreDocs.length);
    assertEquals(full.visited(), unhurried.visited());
  }

  public void testWalks() throws IOException {
    try (TestIndex index = new TestIndex(data(randomEncoding()), graphsAndCodes(), 1)) {
      int degree = index.view().maxDegree();
      assertEndsEarly(index, KnnSearchStrategy.Hnsw.DEFAULT, degree);
      assertEndsEarly(index, new VamanaSearchStrategy(WalkParameters.exact(K)), degree);
      assertEndsEarly(index, new VamanaSearchStrategy(WalkParameters.quantized(K, 0)), degree);
      WalkParameters parents = new WalkParameters(K, WalkParameters.Distances.EXACT, 3, 0);
      assertEndsEarly(index, new VamanaSearchStrategy(parents), 3 * degree);
    }
  }

  public void testWalksOfAnExecutor() throws IOException {
    RecordingExecutor executor = new RecordingExecutor();
    try (TestIndex index = new TestIndex(data(randomEncoding()), graphs(), 1);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installation.executor());
      assertEndsEarly(index, KnnSearchStrategy.Hnsw.DEFAULT, index.view().maxDegree());
      assertFalse(executor.items.isEmpty());
    }
  }

  public void testLists() throws IOException {
    try (TestIndex index = new TestIndex(data(randomEncoding()), lists(), 1)) {
      assertTrue(index.view().hasLists());
      // 40 hits need three blocks of 16, and four lists
      assertEndsEarly(index, KnnSearchStrategy.Hnsw.DEFAULT, 16, 0, 1, 2);
    }
  }

  public void testScans() throws IOException {
    VamanaVectorsFormat scanned =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withThresholds(Integer.MAX_VALUE, Integer.MAX_VALUE),
            Workers.callingThread());
    try (TestIndex index = new TestIndex(data(randomEncoding()), scanned, 1)) {
      assertFalse(index.view().hasGraph());
      assertEndsEarly(index, KnnSearchStrategy.Hnsw.DEFAULT, 64);
    }
  }

  public void testThresholdQueries() throws IOException {
    try (TestIndex index = new TestIndex(data(VectorEncoding.FLOAT32), graphs(), 1)) {
      index.searcher.setTimeout(new Countdown(5));
      QueryVector vector = index.vectors.get(3);
      // must not throw; how many are found depends on when it ends
      TopDocs hits =
          index.searcher.search(
              ThresholdQueries.of(FIELD, vector, -1, 0, null, KnnSearchStrategy.Hnsw.DEFAULT),
              SIZE);
      assertTrue(hits.scoreDocs.length < SIZE);
    }
  }

  public void testBatches() throws IOException {
    try (TestIndex index = new TestIndex(data(VectorEncoding.FLOAT32), graphs(), 3)) {
      float[][] queries = new float[20][];
      for (int i = 0; i < queries.length; i++) {
        queries[i] = index.vectors.get(i).floats();
      }
      TopDocs[] full = new BatchedKnn(index.searcher).search(FIELD, queries, K, null);
      for (int checks : new int[] {0, 10, 100}) {
        index.searcher.setTimeout(new Countdown(checks));
        TopDocs[] cut = new BatchedKnn(index.searcher).search(FIELD, queries, K, null);
        index.searcher.setTimeout(null);
        assertEquals(queries.length, cut.length);
        long visited = 0;
        for (int i = 0; i < cut.length; i++) {
          assertTrue(cut[i].totalHits.value() <= full[i].totalHits.value());
          visited += cut[i].totalHits.value();
          assertWellFormed(
              index.vectors, QueryVector.of(queries[i]), cut[i], ids(index.searcher, cut[i]), ALL);
        }
        assertTrue("visited " + visited, visited <= (checks + 1L) * index.vectors.size() / 10);
        assertEquals(
            TotalHits.Relation.GREATER_THAN_OR_EQUAL_TO,
            cut[queries.length - 1].totalHits.relation());
      }
    }
  }

  public void testCancelledItems() throws IOException {
    try (TestIndex index = new TestIndex(data(randomEncoding()), graphsAndCodes(), 1)) {
      SegmentView view = index.view();
      CpuExecutor executor = new CpuExecutor(Workers.callingThread());
      for (WalkParameters walk :
          List.of(
              WalkParameters.exact(K),
              WalkParameters.quantized(K, 0),
              WalkParameters.exact(WalkParameters.MAX_BEAM_WIDTH))) {
        AtomicInteger checks = new AtomicInteger();
        WorkItem cancelled =
            item(view, index.vectors.get(1), walk, () -> checks.incrementAndGet() > 3);
        WorkItem other = item(view, index.vectors.get(1), walk, () -> false);
        List<WorkResult> results = executor.search(List.of(cancelled, other));
        assertFalse(results.get(0).complete());
        assertTrue(results.get(1).complete());
        assertTrue(results.get(0).visited() < results.get(1).visited());
        assertTrue(results.get(0).ordinals().length <= K);
        assertEquals(K, results.get(1).ordinals().length);
      }
    }
  }

  private static WorkItem item(
      SegmentView view,
      QueryVector query,
      WalkParameters walk,
      java.util.function.BooleanSupplier cancelled) {
    return new WorkItem(
        view, query, K, walk, null, view.size(), Long.MAX_VALUE, cancelled, new int[0]);
  }
}
