package dev.vamana.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.document.IntField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.Weight;

/** Tests filters that accept only vectors far from the query. */
public class FarFilterTests extends SearchTestCase {

  private static final int SIZE = 9_000;
  private static final int ACCEPTED = SIZE / 5;
  // of a graph of so few edges, a walk is the plan for any filter of this share
  private static final int MAX_DEGREE = 8;
  private static final int DIMENSION = 12;
  private static final int QUERIES = 8;
  private static final int K = 10;

  private TestIndex index;
  private LeafReaderContext leaf;
  private QueryVector query;
  private int[] accepted;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    TestVectors vectors =
        TestVectors.clustered(
            random(), VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, SIZE, DIMENSION);
    VamanaParameters parameters =
        VamanaParameters.DEFAULT
            .withGraph(MAX_DEGREE, 32, 1.2f)
            .withThresholds(0, Integer.MAX_VALUE);
    index = new TestIndex(vectors, new VamanaVectorsFormat(parameters, Workers.callingThread()), 1);
    leaf = index.reader.leaves().get(0);
  }

  @Override
  public void tearDown() throws Exception {
    index.close();
    super.tearDown();
  }

  /** Accepts the fifth of all vectors that is farthest from a random one. */
  private Query far() {
    query = index.vectors.get(random().nextInt(SIZE));
    int[] ordered = index.vectors.exact(query, SIZE, ALL);
    accepted = Arrays.copyOfRange(ordered, SIZE - ACCEPTED, SIZE);
    assertFalse(planScans());
    return IntField.newSetQuery(ID, accepted);
  }

  private boolean planScans() {
    try {
      return SearchPlan.scan(index.view(), K, ACCEPTED);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private double recall(TopDocs hits) throws IOException {
    int[] sorted = accepted.clone();
    Arrays.sort(sorted);
    return index.vectors.recall(
        query, K, id -> Arrays.binarySearch(sorted, id) >= 0, ids(index.searcher, hits));
  }

  /** Without a limit of its own, a search costs at most the patience of its walk and a scan. */
  public void testWithoutLimit() throws IOException {
    LeafReader reader = leaf.reader();
    for (int i = 0; i < QUERIES; i++) {
      AcceptDocs filter = acceptDocs(far());
      TopKnnCollector collector = new TopKnnCollector(K, Integer.MAX_VALUE);
      reader.searchNearestVectors(FIELD, query.floats(), collector, filter);
      assertEquals(1, recall(collector.topDocs()), 0);
      long most = SearchPlan.patience(index.view(), K, ACCEPTED) + MAX_DEGREE + ACCEPTED;
      assertTrue("visited " + collector.visitedCount(), collector.visitedCount() <= most);
    }
  }

  /** A limit that Lucene answers by a scan of its own is reached at once. */
  public void testQuery() throws IOException {
    for (int i = 0; i < QUERIES; i++) {
      Query filter = far();
      TopDocs hits =
          index.searcher.search(new KnnFloatVectorQuery(FIELD, query.floats(), K, filter), K);
      assertEquals(1, recall(hits), 0);
    }
  }

  private AcceptDocs acceptDocs(Query filter) throws IOException {
    IndexSearcher searcher = index.searcher;
    Weight weight =
        searcher.createWeight(
            searcher.rewrite(new ConstantScoreQuery(filter)), ScoreMode.COMPLETE_NO_SCORES, 1);
    return AcceptDocs.fromIteratorSupplier(
        () -> {
          Scorer scorer = weight.scorer(leaf);
          return scorer == null ? DocIdSetIterator.empty() : scorer.iterator();
        },
        leaf.reader().getLiveDocs(),
        SIZE);
  }
}
