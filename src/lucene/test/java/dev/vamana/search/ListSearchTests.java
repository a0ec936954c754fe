package dev.vamana.search;

import dev.vamana.ivf.CodeKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;

/** Searches of inverted lists: all similarities, encodings, codes and collectors. */
public class ListSearchTests extends SearchTestCase {

  private static final int SIZE = 3_000;
  private static final int K = 10;

  private static TestIndex index(
      VectorEncoding encoding, VectorSimilarityFunction similarity, int segments)
      throws IOException {
    CodeKind kind = CodeKind.values()[random().nextInt(CodeKind.values().length)];
    return index(kind, encoding, similarity, segments);
  }

  private static TestIndex index(
      CodeKind kind, VectorEncoding encoding, VectorSimilarityFunction similarity, int segments)
      throws IOException {
    return new TestIndex(
        TestVectors.clustered(random(), encoding, similarity, SIZE, 24), lists(kind), segments);
  }

  private static double recall(TestIndex index, Query filter, IntPredicate accepted, int width)
      throws IOException {
    double sum = 0;
    int queries = 20;
    for (int i = 0; i < queries; i++) {
      QueryVector vector = index.vectors.get(random().nextInt(SIZE));
      Query query = new CountedQuery(FIELD, vector, width, filter, null).query();
      TopDocs hits = index.searcher.search(query, K);
      int[] ids = ids(index.searcher, hits);
      assertEquals(K, ids.length);
      assertWellFormed(index.vectors, vector, hits, ids, accepted);
      sum += index.vectors.recall(vector, K, accepted, ids) / queries;
    }
    return sum;
  }

  public void testFindsNearest() throws IOException {
    List<CodeKind> kinds = CodeKind.rabitq();
    checkFindsNearest(kinds.get(random().nextInt(kinds.size())));
  }

  public void testFindsNearestByProductQuantization() throws IOException {
    checkFindsNearest(CodeKind.PQ);
  }

  private static void checkFindsNearest(CodeKind kind) throws IOException {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
        try (TestIndex index = index(kind, encoding, similarity, 1)) {
          assertTrue(index.view().hasLists());
          assertFalse(index.view().hasGraph());
          String what = kind + " " + encoding + " " + similarity;
          double recall = recall(index, null, ALL, 60);
          assertTrue(what + ": " + recall, recall > 0.8);
          for (int limit : new int[] {SIZE / 2, SIZE / 10, SIZE / 50}) {
            double filtered = recall(index, index.filter(limit), index.accepted(limit), 60);
            assertTrue(what + ", " + limit + " accepted: " + filtered, filtered > 0.8);
          }
        }
      }
    }
  }

  public void testSeveralSegments() throws IOException {
    try (TestIndex index = index(randomEncoding(), randomSimilarity(), 3)) {
      double recall = recall(index, null, ALL, 60);
      assertTrue("recall " + recall, recall > 0.8);
    }
  }

  /** The first vector and its equals are nearest to it, also by inner product. */
  private static TestVectors halfOfThemEqual(int size) {
    TestVectors distinct =
        TestVectors.clustered(random(), randomEncoding(), randomSimilarity(), size, 32);
    List<QueryVector> vectors = new ArrayList<>(distinct.base());
    int nearest = 0;
    for (int i = 1; i < size; i++) {
      if (distinct.score(vectors.get(i), i) > distinct.score(vectors.get(nearest), nearest)) {
        nearest = i;
      }
    }
    QueryVector vector = vectors.get(nearest);
    for (int i = 0; i < size; i += 2) {
      vectors.set(i, vector);
    }
    return new TestVectors(distinct.similarity(), vectors);
  }

  /** Of equal vectors about as many are scored as there are hits, not all. */
  public void testEqualVectors() throws IOException {
    int size = 12_000;
    for (CodeKind kind : CodeKind.values()) {
      try (TestIndex index = new TestIndex(halfOfThemEqual(size), lists(kind), 1)) {
        QueryVector vector = index.vectors.get(0);
        for (int k : new int[] {1, K, 100}) {
          CountedQuery query = new CountedQuery(FIELD, vector, k, null, null);
          TopDocs hits = index.searcher.search(query.query(), k);
          int[] ids = ids(index.searcher, hits);
          assertWellFormed(index.vectors, vector, hits, ids, ALL);
          assertEquals(k, ids.length);
          assertEquals(1, index.vectors.recall(vector, k, ALL, ids), 0);
          assertTrue(kind + ": " + query.visited(), query.visited() < 500 + 2 * k);
        }
      }
    }
  }

  /** Who asks for all vectors from a score on gets all that have just this score. */
  public void testEqualVectorsAtAThreshold() throws IOException {
    int size = 12_000;
    try (TestIndex index = new TestIndex(halfOfThemEqual(size), lists(), 1)) {
      QueryVector vector = index.vectors.get(0);
      // as the index rounds it
      Query nearest = new CountedQuery(FIELD, vector, 1, null, null).query();
      float score = index.searcher.search(nearest, 1).scoreDocs[0].score;
      TopDocs hits =
          index.searcher.search(ThresholdQueries.of(FIELD, vector, score, 0, null, null), size);
      int[] found = Arrays.stream(ids(index.searcher, hits)).sorted().toArray();
      for (int i = 0; i < size; i += 2) {
        assertTrue("vector " + i, Arrays.binarySearch(found, i) >= 0);
      }
    }
  }

  /** All hits above a score: such collectors have no k of their own. */
  public void testThresholds() throws IOException {
    try (TestIndex index = index(randomEncoding(), VectorSimilarityFunction.EUCLIDEAN, 1)) {
      double sum = 0;
      for (int i = 0; i < 10; i++) {
        QueryVector vector = index.vectors.get(random().nextInt(SIZE));
        int[] exact = index.vectors.exact(vector, 40, ALL);
        float threshold = index.vectors.score(vector, exact[exact.length - 1]) * (1 - 1e-5f);
        TopDocs hits =
            index.searcher.search(
                ThresholdQueries.of(FIELD, vector, threshold, 0, null, null), SIZE);
        int[] ids = ids(index.searcher, hits);
        assertWellFormed(index.vectors, vector, hits, ids, ALL);
        sum += index.vectors.recall(vector, 40, ALL, ids) / 10;
      }
      assertTrue("recall " + sum, sum > 0.7);
    }
  }

  /** A work item is answered like a query, with and without a visit limit. */
  public void testWorkItems() throws IOException {
    try (TestIndex index = index(randomEncoding(), randomSimilarity(), 1)) {
      SegmentView view = index.view();
      QueryVector vector = index.vectors.get(random().nextInt(SIZE));
      WorkResult found = CpuExecutor.search(item(view, vector, Long.MAX_VALUE, false));
      assertTrue(found.complete());
      assertEquals(K, found.ordinals().length);
      assertTrue(found.visited() < SIZE);
      WorkResult limited = CpuExecutor.search(item(view, vector, 25, false));
      assertFalse(limited.complete());
      assertEquals(25, limited.visited());
      WorkResult cancelled = CpuExecutor.search(item(view, vector, Long.MAX_VALUE, true));
      assertFalse(cancelled.complete());
      assertTrue(cancelled.visited() < found.visited());
    }
  }

  private static WorkItem item(
      SegmentView view, QueryVector vector, long limit, boolean cancelled) {
    return new WorkItem(
        view,
        vector,
        K,
        WalkParameters.defaults(60),
        null,
        SIZE,
        limit,
        () -> cancelled,
        new int[0]);
  }

  /** An executor gets lists only if it asks for them. */
  public void testExecutorTakesLists() throws IOException {
    try (TestIndex index = index(randomEncoding(), randomSimilarity(), 1)) {
      for (boolean takes : new boolean[] {false, true}) {
        AtomicInteger items = new AtomicInteger();
        SearchExecutor executor =
            new SearchExecutor() {
              @Override
              public String name() {
                return "lists";
              }

              @Override
              public List<WorkResult> search(List<WorkItem> batch) throws IOException {
                items.addAndGet(batch.size());
                return List.of(CpuExecutor.search(batch.get(0)));
              }

              @Override
              public LeftSearch leaves(SegmentView segment, int k, int accepted, boolean scan) {
                return takes ? null : NOT_MEASURED;
              }

              @Override
              public void close() {}
            };
        long before = ExecutorRegistry.cpuSearches().count(CpuSearches.Reason.LISTS);
        try (ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(() -> executor)) {
          assertSame(executor, installation.executor());
          assertTrue(recall(index, null, ALL, 60) > 0.8);
        }
        long counted = ExecutorRegistry.cpuSearches().count(CpuSearches.Reason.LISTS) - before;
        assertEquals(takes ? 20 : 0, items.get());
        assertEquals(takes ? 0 : 20, counted);
      }
    }
  }
}
