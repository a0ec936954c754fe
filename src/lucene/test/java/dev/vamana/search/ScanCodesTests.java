package dev.vamana.search;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.ivf.CodeKind;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.function.IntPredicate;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.IntField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;

/** Segments without a graph whose scans have codes. */
public class ScanCodesTests extends SearchTestCase {

  private static final int SIZE = 3_000;
  private static final int DIMENSION = 140;
  private static final int K = 10;

  /** No segment has a graph or lists. */
  private static KnnVectorsFormat scanned() {
    IndexType type = random().nextBoolean() ? IndexType.GRAPH : IndexType.IVF;
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT
            .withThresholds(Integer.MAX_VALUE, Integer.MAX_VALUE)
            .withType(type, CodeKind.DEFAULT),
        Workers.callingThread());
  }

  private static TestVectors vectors(VectorEncoding encoding, VectorSimilarityFunction similarity) {
    return TestVectors.clustered(random(), encoding, similarity, SIZE, DIMENSION);
  }

  private static TestIndex index() throws IOException {
    return new TestIndex(vectors(randomEncoding(), randomSimilarity()), scanned(), 1);
  }

  /** Returns the mean recall, and checks the mean number of exact scores. */
  private static double recall(
      TestIndex index, Query filter, IntPredicate accepted, int most, int least)
      throws IOException {
    double sum = 0;
    long visited = 0;
    int queries = 20;
    for (int i = 0; i < queries; i++) {
      QueryVector vector = index.vectors.get(random().nextInt(SIZE));
      CountedQuery query = new CountedQuery(FIELD, vector, K, filter, null);
      TopDocs hits = index.searcher.search(query.query(), K);
      int[] ids = ids(index.searcher, hits);
      assertEquals(K, ids.length);
      assertWellFormed(index.vectors, vector, hits, ids, accepted);
      sum += index.vectors.recall(vector, K, accepted, ids) / queries;
      visited += query.visited();
    }
    assertTrue("visited " + visited, visited >= (long) least * queries);
    assertTrue("visited " + visited, visited <= (long) most * queries);
    return sum;
  }

  public void testFindsNearest() throws IOException {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
        try (TestIndex index = new TestIndex(vectors(encoding, similarity), scanned(), 1)) {
          SegmentView view = index.view();
          assertFalse(view.isIndexed());
          assertNull(view.lists());
          assertEquals(1, view.scanCodes().shape().lists());
          String what = encoding + " " + similarity;
          double recall = recall(index, null, ALL, SIZE - 1, K);
          assertTrue(what + ": " + recall, recall > 0.9);
          int half = SIZE / 2;
          double filtered = recall(index, index.filter(half), index.accepted(half), half - 1, K);
          assertTrue(what + ", filtered: " + filtered, filtered > 0.9);
        }
      }
    }
  }

  /** Estimates of all vectors take longer than exact scores of a few. */
  public void testFewAcceptedAreAllScored() throws IOException {
    try (TestIndex index = index()) {
      for (int limit : new int[] {K + 1, SIZE / 50}) {
        Query filter = index.filter(limit);
        assertEquals(1, recall(index, filter, index.accepted(limit), limit, limit), 1e-9);
      }
    }
  }

  public void testDeletedDocuments() throws IOException {
    try (TestIndex index = index()) {
      int deleted = SIZE / 3;
      try (IndexWriter writer = new IndexWriter(index.directory, config(scanned()))) {
        writer.deleteDocuments(IntField.newRangeQuery(SHUFFLED, 0, deleted - 1));
      }
      IntPredicate live = id -> index.shuffled.get(id) >= deleted;
      try (DirectoryReader reader = DirectoryReader.open(index.directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        double sum = 0;
        for (int i = 0; i < 10; i++) {
          QueryVector vector = index.vectors.get(random().nextInt(SIZE));
          TopDocs hits = searcher.search(new CountedQuery(FIELD, vector, K, null, null).query(), K);
          int[] ids = ids(searcher, hits);
          assertWellFormed(index.vectors, vector, hits, ids, live);
          sum += index.vectors.recall(vector, K, live, ids) / 10;
        }
        assertTrue("recall " + sum, sum > 0.9);
      }
    }
  }

  public void testThresholds() throws IOException {
    TestVectors vectors = vectors(randomEncoding(), VectorSimilarityFunction.EUCLIDEAN);
    try (TestIndex index = new TestIndex(vectors, scanned(), 1)) {
      double sum = 0;
      for (int i = 0; i < 10; i++) {
        QueryVector vector = vectors.get(random().nextInt(SIZE));
        int[] exact = vectors.exact(vector, 40, ALL);
        float threshold = vectors.score(vector, exact[exact.length - 1]) * (1 - 1e-5f);
        TopDocs hits =
            index.searcher.search(
                ThresholdQueries.of(FIELD, vector, threshold, 0, null, null), SIZE);
        int[] ids = ids(index.searcher, hits);
        assertWellFormed(vectors, vector, hits, ids, ALL);
        sum += vectors.recall(vector, 40, ALL, ids) / 10;
      }
      assertTrue("recall " + sum, sum > 0.9);
    }
  }

  /** A work item is answered like a query, with and without a visit limit. */
  public void testWorkItems() throws IOException {
    try (TestIndex index = index()) {
      SegmentView view = index.view();
      QueryVector vector = index.vectors.get(random().nextInt(SIZE));
      WorkResult found = CpuExecutor.search(item(view, vector, Long.MAX_VALUE));
      assertTrue(found.complete());
      assertTrue(found.visited() < SIZE);
      TopDocs hits =
          index.searcher.search(new CountedQuery(FIELD, vector, K, null, null).query(), K);
      assertArrayEquals(
          ids(index.searcher, hits),
          java.util.Arrays.copyOf(found.ordinals(), hits.scoreDocs.length));
      WorkResult limited = CpuExecutor.search(item(view, vector, 12));
      assertFalse(limited.complete());
      assertEquals(12, limited.visited());
    }
  }

  private static WorkItem item(SegmentView view, QueryVector vector, long limit) {
    return new WorkItem(
        view, vector, K, WalkParameters.defaults(K), null, SIZE, limit, () -> false, new int[0]);
  }

  /** A merge writes codes again, or builds a graph where the merged segment is large enough. */
  public void testMerges() throws IOException {
    TestVectors vectors = vectors(randomEncoding(), randomSimilarity());
    for (boolean graph : new boolean[] {false, true}) {
      VamanaParameters parameters =
          VamanaParameters.DEFAULT
              .withGraph(32, 64, 1.2f)
              .withThresholds(graph ? SIZE : SIZE + 1, Integer.MAX_VALUE);
      KnnVectorsFormat format = new VamanaVectorsFormat(parameters, Workers.callingThread());
      try (TestIndex index = new TestIndex(vectors, format, 2)) {
        assertNotNull(view(index.reader.leaves().get(0).reader()).scanCodes());
        try (IndexWriter writer =
            new IndexWriter(
                index.directory,
                config(format).setMergePolicy(new org.apache.lucene.index.TieredMergePolicy()))) {
          writer.forceMerge(1);
        }
        try (DirectoryReader reader = DirectoryReader.open(index.directory)) {
          SegmentView merged = view(getOnlyLeafReader(reader));
          assertEquals(graph, merged.hasGraph());
          assertEquals(graph, merged.scanCodes() == null);
          IndexSearcher searcher = new IndexSearcher(reader);
          double sum = 0;
          for (int i = 0; i < 10; i++) {
            QueryVector vector = vectors.get(random().nextInt(SIZE));
            Query query = new CountedQuery(FIELD, vector, 50, null, null).query();
            TopDocs hits = searcher.search(query, K);
            sum += vectors.recall(vector, K, ALL, ids(searcher, hits)) / 10;
          }
          assertTrue("recall " + sum, sum > 0.8);
        }
      }
    }
  }

  /** Codes pay only for long vectors and for more than a few of them. */
  public void testSmallSegmentsHaveNone() throws IOException {
    for (int[] shape : new int[][] {{SIZE, 95}, {400, DIMENSION}}) {
      TestVectors vectors =
          TestVectors.clustered(random(), randomEncoding(), randomSimilarity(), shape[0], shape[1]);
      try (TestIndex index = new TestIndex(vectors, scanned(), 1)) {
        assertFalse(index.view().isIndexed());
        assertNull(index.view().scanCodes());
      }
    }
  }
}
