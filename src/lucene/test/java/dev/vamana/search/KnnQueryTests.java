package dev.vamana.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.VectorUtil;

/** Compares Lucene's kNN queries with brute force. */
public class KnnQueryTests extends SearchTestCase {

  private static final int SIZE = 2_000;
  private static final int DIMENSION = 16;
  private static final int QUERIES = 20;
  private static final int K = 10;

  private static TestVectors data(VectorEncoding encoding, VectorSimilarityFunction similarity) {
    return TestVectors.clustered(random(), encoding, similarity, SIZE, DIMENSION);
  }

  static TestVectors queries(TestVectors vectors) {
    return new TestVectors(
        vectors.similarity(),
        permutation(vectors.size(), random()).subList(0, QUERIES).stream()
            .map(vectors::get)
            .map(vector -> nudged(vector, vectors.similarity()))
            .toList());
  }

  /** A query near a vector of the base, but not equal to it. */
  private static QueryVector nudged(QueryVector vector, VectorSimilarityFunction similarity) {
    if (vector.bytes() != null) {
      byte[] bytes = vector.bytes().clone();
      for (int d = 0; d < bytes.length; d++) {
        bytes[d] = (byte) Math.max(-127, Math.min(127, bytes[d] + random().nextInt(9) - 4));
      }
      return QueryVector.of(bytes);
    }
    float[] floats = vector.floats().clone();
    for (int d = 0; d < floats.length; d++) {
      floats[d] *= 0.9f + 0.2f * random().nextFloat();
    }
    if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
      VectorUtil.l2normalize(floats);
    }
    return QueryVector.of(floats);
  }

  /** Mean recall of k hits; visited counts of all queries are added to {@code visited[0]}. */
  private static double recall(
      TestIndex index, int k, Query filter, IntPredicate accepted, long[] visited)
      throws IOException {
    double sum = 0;
    TestVectors queries = queries(index.vectors);
    for (QueryVector query : queries.base()) {
      CountedQuery knn = new CountedQuery(FIELD, query, k, filter, KnnSearchStrategy.Hnsw.DEFAULT);
      TopDocs hits = index.searcher.search(knn.query(), k);
      int[] ids = ids(index.searcher, hits);
      assertWellFormed(index.vectors, query, hits, ids, accepted);
      assertEquals("hits", index.vectors.exact(query, k, accepted).length, ids.length);
      sum += index.vectors.recall(query, k, accepted, ids);
      visited[0] += knn.visited();
    }
    return sum / queries.size();
  }

  private static void assertRecall(double floor, double recall) {
    assertTrue("recall " + recall + " below " + floor, recall >= floor);
  }

  public void testRecallOfEverySimilarityAndEncoding() throws IOException {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
        try (TestIndex index = new TestIndex(data(encoding, similarity), graphs(), 1)) {
          assertFalse(SearchPlan.scan(index.view(), 4 * K, SIZE));
          long[] visited = new long[1];
          assertRecall(0.85, recall(index, 4 * K, null, ALL, visited));
          assertTrue("visited " + visited[0], visited[0] < QUERIES * SIZE / 2);
          assertTrue("visited " + visited[0], visited[0] > QUERIES * 4L * K);
        }
      }
    }
  }

  /**
   * Hits are among the long vectors; walks must not pass by the short ones, nor end among vectors
   * of length 0, nor miss equal ones.
   */
  public void testInnerProductsOfLengthsThatDiffer() throws IOException {
    int dimension = 4;
    int zeros = random().nextBoolean() ? 0 : 2 + random().nextInt(10);
    List<QueryVector> base = new ArrayList<>();
    for (int i = 0; i < 4 * SIZE; i++) {
      if (zeros > 0 && i % zeros == 0) {
        base.add(QueryVector.of(new float[dimension]));
        continue;
      }
      boolean again = i > 0 && random().nextInt(4) == 0;
      float[] vector =
          again
              ? base.get(random().nextInt(i)).floats().clone()
              : TestVectors.gaussian(random(), dimension, 1);
      float length =
          again && random().nextBoolean() ? 1 : (float) Math.exp(random().nextGaussian());
      for (int d = 0; d < dimension; d++) {
        vector[d] *= length;
      }
      base.add(QueryVector.of(vector));
    }
    TestVectors vectors = new TestVectors(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT, base);
    try (TestIndex index = new TestIndex(vectors, graphs(), 1)) {
      long[] visited = new long[1];
      double recall = recall(index, 2 * K, null, ALL, visited);
      assertRecall(0.85, recall);
      assertTrue("visited " + visited[0], visited[0] < QUERIES * 400);
    }
  }

  public void testAsManyHitsAsVectorsOrMore() throws IOException {
    TestVectors vectors =
        TestVectors.clustered(random(), randomEncoding(), randomSimilarity(), 200, DIMENSION);
    try (TestIndex index = new TestIndex(vectors, graphs(), 1)) {
      for (int k : new int[] {199, 200, 201, 5_000}) {
        assertEquals(1.0, recall(index, k, null, ALL, new long[1]), 0);
      }
    }
  }

  public void testFilters() throws IOException {
    try (TestIndex index = new TestIndex(data(randomEncoding(), randomSimilarity()), graphs(), 1)) {
      for (double share : new double[] {0.9, 0.5, 0.05, 0.005, 0.0005}) {
        int limit = Math.max(1, (int) (SIZE * share));
        double recall = recall(index, K, index.filter(limit), index.accepted(limit), new long[1]);
        assertRecall(share >= 0.5 ? 0.6 : 1.0, recall);
      }
    }
  }

  public void testFiltersThatAcceptNothing() throws IOException {
    try (TestIndex index = new TestIndex(data(randomEncoding(), randomSimilarity()), graphs(), 2)) {
      QueryVector query = queries(index.vectors).get(0);
      for (Query filter : new Query[] {index.filter(0), IntField.newExactQuery(ID, SIZE + 7)}) {
        CountedQuery knn = new CountedQuery(FIELD, query, K, filter, null);
        assertEquals(0, index.searcher.search(knn.query(), K).scoreDocs.length);
        assertEquals(0, knn.visited());
      }
      for (int limit : new int[] {1, 2, K - 1, K, K + 1}) {
        assertRecall(1, recall(index, K, index.filter(limit), index.accepted(limit), new long[1]));
      }
    }
  }

  private static void assertDeletesRespected(
      TestVectors vectors, DirectoryReader reader, IntPredicate live) throws IOException {
    IndexSearcher searcher = new IndexSearcher(reader);
    double plain = 0;
    double executed = 0;
    for (QueryVector query : queries(vectors).base()) {
      TopDocs hits = searcher.search(new CountedQuery(FIELD, query, K, null, null).query(), K);
      int[] ids = ids(searcher, hits);
      assertEquals(Math.min(K, reader.numDocs()), ids.length);
      assertWellFormed(vectors, query, hits, ids, live);
      plain += vectors.recall(query, K, live, ids) / QUERIES;
      VamanaSearchStrategy strategy = new VamanaSearchStrategy(WalkParameters.exact(2 * K));
      hits = searcher.search(new CountedQuery(FIELD, query, K, null, strategy).query(), K);
      ids = ids(searcher, hits);
      assertEquals(Math.min(K, reader.numDocs()), ids.length);
      assertWellFormed(vectors, query, hits, ids, live);
      executed += vectors.recall(query, K, live, ids) / QUERIES;
    }
    assertRecall(0.6, plain);
    assertRecall(0.6, executed);
  }

  public void testUpdates() throws IOException {
    TestVectors vectors = data(randomEncoding(), randomSimilarity());
    int half = SIZE / 2;
    try (Directory directory = directory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(graphs()))) {
        for (int id = 0; id < half; id++) {
          Document document = document(vectors, id, id);
          document.add(new StringField("slot", "" + id, Field.Store.NO));
          writer.addDocument(document);
        }
        writer.flush();
        // every document now gets another vector
        for (int id = half; id < SIZE; id++) {
          Document document = document(vectors, id, id);
          document.add(new StringField("slot", "" + (id - half), Field.Store.NO));
          writer.updateDocument(new Term("slot", "" + (id - half)), document);
        }
        writer.commit();
        try (DirectoryReader reader = DirectoryReader.open(writer)) {
          assertDeletesRespected(vectors, reader, id -> id >= half);
        }
        writer.getConfig().setMergePolicy(newLogMergePolicy());
        writer.forceMerge(1);
        writer.commit();
        try (DirectoryReader reader = DirectoryReader.open(writer)) {
          assertEquals(1, reader.leaves().size());
          assertDeletesRespected(vectors, reader, id -> id >= half);
        }
      }
    }
  }

  public void testVisitLimits() throws IOException {
    try (TestIndex index =
        new TestIndex(data(VectorEncoding.FLOAT32, randomSimilarity()), graphsAndCodes(), 1)) {
      KnnSearchStrategy[] strategies = {
        null,
        new VamanaSearchStrategy(WalkParameters.exact(40)),
        new VamanaSearchStrategy(WalkParameters.quantized(40, WalkParameters.RERANK_DEFAULT)),
        new VamanaSearchStrategy(WalkParameters.quantized(40, WalkParameters.RERANK_EXPANDED)),
      };
      for (KnnSearchStrategy strategy : strategies) {
        for (int limit : new int[] {1, K, 50, 117, SIZE * 2}) {
          TopKnnCollector collector = new TopKnnCollector(K, limit, strategy);
          QueryVector query = queries(index.vectors).get(0);
          getOnlyLeafReader(index.reader)
              .searchNearestVectors(
                  FIELD, query.floats(), collector, AcceptDocs.fromLiveDocs(null, SIZE));
          TopDocs hits = collector.topDocs();
          assertTrue(
              strategy + " visited " + hits.totalHits.value() + " of " + limit,
              hits.totalHits.value() <= limit);
          assertTrue(hits.scoreDocs.length > 0);
          if (limit <= 50) {
            assertEquals(TotalHits.Relation.GREATER_THAN_OR_EQUAL_TO, hits.totalHits.relation());
          } else if (limit > SIZE) {
            assertEquals(TotalHits.Relation.EQUAL_TO, hits.totalHits.relation());
            assertEquals(K, hits.scoreDocs.length);
          }
          for (ScoreDoc hit : hits.scoreDocs) {
            assertEquals(
                index.vectors.score(query, hit.doc), hit.score, 1e-3f * Math.abs(hit.score));
          }
        }
      }
    }
  }
}
