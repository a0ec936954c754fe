package dev.vamana.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.document.IntField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.PatienceKnnVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.SeededKnnVectorQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/** Tests Lucene's search strategies, this project's, and others. */
public class SearchStrategyTests extends SearchTestCase {

  private static final int SIZE = 2_000;
  private static final int QUERIES = 15;
  private static final int K = 10;

  private static TestIndex index(VectorEncoding encoding, boolean codes, int segments)
      throws IOException {
    TestVectors vectors = TestVectors.clustered(random(), encoding, randomSimilarity(), SIZE, 16);
    return new TestIndex(vectors, codes ? graphsAndCodes() : graphs(), segments);
  }

  private static double recall(TestIndex index, QueryVector vector, Query query)
      throws IOException {
    TopDocs hits = index.searcher.search(query, K);
    int[] ids = ids(index.searcher, hits);
    assertEquals(K, ids.length);
    assertWellFormed(index.vectors, vector, hits, ids, ALL);
    return index.vectors.recall(vector, K, ALL, ids);
  }

  private static Query seeded(QueryVector vector, Query seeds) {
    return vector.floats() != null
        ? SeededKnnVectorQuery.fromFloatQuery(
            new KnnFloatVectorQuery(FIELD, vector.floats(), K), seeds)
        : SeededKnnVectorQuery.fromByteQuery(
            new KnnByteVectorQuery(FIELD, vector.bytes(), K), seeds);
  }

  public void testSeeds() throws IOException {
    for (int segments : new int[] {1, 4}) {
      try (TestIndex index = index(randomEncoding(), false, segments)) {
        double near = 0;
        double far = 0;
        for (int i = 0; i < QUERIES; i++) {
          QueryVector vector = index.vectors.get(random().nextInt(SIZE));
          int[] nearest = index.vectors.exact(vector, 50, ALL);
          BooleanQuery.Builder neighbors = new BooleanQuery.Builder();
          for (int id : Arrays.copyOfRange(nearest, 20, 50)) {
            neighbors.add(IntField.newExactQuery(ID, id), BooleanClause.Occur.SHOULD);
          }
          near += recall(index, vector, seeded(vector, neighbors.build())) / QUERIES;
          Query anything = IntField.newRangeQuery(ID, 0, random().nextInt(SIZE));
          far += recall(index, vector, seeded(vector, anything)) / QUERIES;
          assertEquals(
              recall(index, vector, new CountedQuery(FIELD, vector, K, null, null).query()),
              recall(index, vector, seeded(vector, MatchNoDocsQuery.INSTANCE)),
              0);
        }
        assertTrue("recall with near seeds: " + near, near >= 0.6);
        assertTrue("recall with any seeds: " + far, far >= 0.55);
      }
    }
  }

  /** Lucene's second pass over a segment seeds a query's strategy, which may be null. */
  public void testSeedsWithoutAStrategy() throws IOException {
    try (TestIndex index = index(VectorEncoding.FLOAT32, false, 1)) {
      QueryVector vector = index.vectors.get(0);
      KnnCollector collector =
          new TopKnnCollector(
              K,
              Integer.MAX_VALUE,
              new KnnSearchStrategy.Seeded(DocIdSetIterator.range(77, 78), 1, null));
      LeafReader leaf = index.searcher.getIndexReader().leaves().get(0).reader();
      leaf.searchNearestVectors(
          FIELD, vector.floats(), collector, AcceptDocs.fromLiveDocs(null, leaf.maxDoc()));
      assertEquals(K, collector.topDocs().scoreDocs.length);
    }
  }

  public void testSeedsReachAnExecutor() throws IOException {
    RecordingExecutor executor = new RecordingExecutor();
    try (TestIndex index = index(randomEncoding(), false, 1);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installation.executor());
      QueryVector vector = index.vectors.get(0);
      recall(index, vector, seeded(vector, IntField.newExactQuery(ID, 77)));
      assertEquals(1, executor.items.size());
      // one segment without deletes: ordinals are ids
      assertArrayEquals(new int[] {77}, executor.items.peek().entryPoints());
    }
  }

  public void testPatience() throws IOException {
    try (TestIndex index = index(VectorEncoding.FLOAT32, false, 1)) {
      double recall = 0;
      for (int i = 0; i < QUERIES; i++) {
        QueryVector vector = index.vectors.get(random().nextInt(SIZE));
        KnnFloatVectorQuery knn = new KnnFloatVectorQuery(FIELD, vector.floats(), K);
        recall +=
            recall(index, vector, PatienceKnnVectorQuery.fromFloatQuery(knn, 0.9, 20)) / QUERIES;
        // without any patience the search ends early, but still gives what it has
        TopDocs hits =
            index.searcher.search(PatienceKnnVectorQuery.fromFloatQuery(knn, 0.01, 1), K);
        assertTrue(hits.scoreDocs.length > 0);
        assertWellFormed(index.vectors, vector, hits, ids(index.searcher, hits), ALL);
      }
      assertTrue("recall " + recall, recall >= 0.55);
    }
  }

  /** A walk that passes rejected nodes takes more steps, which say nothing of its progress. */
  public void testRejectedNodesCostNoPatience() throws IOException {
    try (TestIndex index = index(randomEncoding(), false, 1)) {
      int[] blocks = new int[4];
      for (int i = 0; i < QUERIES; i++) {
        QueryVector vector = index.vectors.get(random().nextInt(SIZE));
        int[] shares = {1, 2, 10, 100};
        for (int j = 0; j < shares.length; j++) {
          FixedBitSet accepted = new FixedBitSet(SIZE);
          for (int id : permutation(SIZE, random()).subList(0, SIZE / shares[j])) {
            accepted.set(id);
          }
          blocks[j] += blocks(index.view(), vector, accepted);
        }
      }
      for (int j = 1; j < blocks.length; j++) {
        assertTrue(Arrays.toString(blocks), blocks[j] < 1.6 * blocks[0]);
      }
    }
  }

  /** Walks, and returns how many blocks of vectors the collector's strategy heard of. */
  private static int blocks(SegmentView view, QueryVector vector, Bits accepted)
      throws IOException {
    int[] blocks = new int[1];
    KnnSearchStrategy counting =
        new KnnSearchStrategy.Hnsw(0) {
          @Override
          public void nextVectorsBlock() {
            blocks[0]++;
          }
        };
    new CollectorWalk(
            view.scorer(vector),
            null,
            view.adjacency(),
            new TopKnnCollector(K, Integer.MAX_VALUE, counting),
            accepted,
            K)
        .run(new int[] {view.medoid()}, CollectorWalk.TO_THE_END);
    return blocks[0];
  }

  public void testSecondPassOverASegmentThatHoldsAllHits() throws IOException {
    // segments hold vectors in the order of their distance from the query, so one holds all hits
    TestVectors shuffled =
        TestVectors.clustered(
            random(), randomEncoding(), VectorSimilarityFunction.EUCLIDEAN, SIZE, 16);
    QueryVector vector = shuffled.get(0);
    List<QueryVector> sorted = new ArrayList<>();
    for (int id : shuffled.exact(vector, SIZE, ALL)) {
      sorted.add(shuffled.get(id));
    }
    TestVectors vectors = new TestVectors(shuffled.similarity(), sorted);
    int k = 100;
    try (TestIndex index = new TestIndex(vectors, graphs(), 5)) {
      CountedQuery knn = new CountedQuery(FIELD, vector, k, null, KnnSearchStrategy.Hnsw.DEFAULT);
      TopDocs hits = index.searcher.search(knn.query(), k);
      assertTrue("searches " + knn.searches(), knn.searches() > 5);
      assertEquals(k, hits.scoreDocs.length);
      double recall = vectors.recall(vector, k, ALL, ids(index.searcher, hits));
      assertTrue("recall " + recall, recall >= 0.7);
    }
  }

  public void testUnknownStrategyIsIgnored() throws IOException {
    KnnSearchStrategy unknown =
        new KnnSearchStrategy() {
          @Override
          public void nextVectorsBlock() {}

          @Override
          public boolean equals(Object other) {
            return this == other;
          }

          @Override
          public int hashCode() {
            return 1;
          }
        };
    try (TestIndex index = index(randomEncoding(), true, 2)) {
      for (int i = 0; i < QUERIES; i++) {
        QueryVector vector = index.vectors.get(random().nextInt(SIZE));
        assertArrayEquals(
            ids(index.searcher, vector, K, KnnSearchStrategy.Hnsw.DEFAULT),
            ids(index.searcher, vector, K, unknown));
        assertArrayEquals(
            ids(index.searcher, vector, K, KnnSearchStrategy.Hnsw.DEFAULT),
            ids(index.searcher, vector, K, null));
      }
    }
  }

  private static int[] ids(
      IndexSearcher searcher, QueryVector vector, int k, KnnSearchStrategy strategy)
      throws IOException {
    Query query = new CountedQuery(FIELD, vector, k, null, strategy).query();
    return ids(searcher, searcher.search(query, k));
  }

  /** Mean recall and mean visits of so many queries. */
  private static double[] measure(
      TestIndex index, List<QueryVector> vectors, int k, WalkParameters walk) throws IOException {
    double[] measured = new double[2];
    for (QueryVector vector : vectors) {
      CountedQuery knn = new CountedQuery(FIELD, vector, k, null, new VamanaSearchStrategy(walk));
      TopDocs hits = index.searcher.search(knn.query(), k);
      int[] ids = ids(index.searcher, hits);
      assertEquals(k, ids.length);
      assertWellFormed(index.vectors, vector, hits, ids, ALL);
      measured[0] += index.vectors.recall(vector, k, ALL, ids) / vectors.size();
      measured[1] += (double) knn.visited() / vectors.size();
    }
    return measured;
  }

  private static List<QueryVector> someOf(TestVectors vectors) {
    return permutation(SIZE, random()).subList(0, QUERIES).stream().map(vectors::get).toList();
  }

  public void testWiderBeamFindsMore() throws IOException {
    try (TestIndex index = index(randomEncoding(), true, 1)) {
      assertFalse(SearchPlan.scan(index.view(), 40, SIZE));
      List<QueryVector> vectors = someOf(index.vectors);
      for (int k : new int[] {1, 5}) {
        double[] narrow = measure(index, vectors, k, WalkParameters.exact(k));
        double[] wide = measure(index, vectors, k, WalkParameters.exact(40));
        assertTrue("visits " + wide[1] + " < " + narrow[1], wide[1] > narrow[1]);
        assertTrue("recall " + wide[0] + " < " + narrow[0], wide[0] >= narrow[0]);
        assertTrue("recall " + wide[0], wide[0] >= 0.8);
        assertTrue("visits " + wide[1], wide[1] < SIZE / 2.0);
      }
    }
  }

  public void testWalksOnCodes() throws IOException {
    try (TestIndex index = index(randomEncoding(), true, 1)) {
      assertNotNull(index.view().codebook());
      List<QueryVector> vectors = someOf(index.vectors);
      int[] depths = {WalkParameters.RERANK_DEFAULT, WalkParameters.RERANK_EXPANDED, 80};
      for (int depth : depths) {
        for (int parents = 1; parents <= 4; parents++) {
          WalkParameters walk =
              new WalkParameters(80, WalkParameters.Distances.QUANTIZED, parents, depth);
          double[] measured = measure(index, vectors, K, walk);
          assertTrue(walk + " has recall " + measured[0], measured[0] >= 0.65);
          assertTrue(walk + " visits " + measured[1], measured[1] < SIZE / 2.0);
        }
      }
    }
  }
}
