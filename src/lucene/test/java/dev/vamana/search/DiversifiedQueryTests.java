package dev.vamana.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.search.join.DiversifyingChildrenByteKnnVectorQuery;
import org.apache.lucene.search.join.DiversifyingChildrenFloatKnnVectorQuery;
import org.apache.lucene.search.join.QueryBitSetProducer;
import org.apache.lucene.search.knn.KnnCollectorManager;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;

/**
 * Tests queries for one hit per parent, whose collectors cannot be recognized by class once they
 * are decorated.
 */
public class DiversifiedQueryTests extends SearchTestCase {

  private static final int PARENTS = 250;
  private static final int CHILDREN = 8;
  private static final int K = 10;
  private static final BitSetProducer PARENT_DOCS =
      new QueryBitSetProducer(new TermQuery(new Term("type", "parent")));

  /** Children of a parent are near each other, so that the nearest children have few parents. */
  private static TestVectors children() {
    VectorEncoding encoding = randomEncoding();
    TestVectors centers =
        TestVectors.clustered(random(), encoding, randomSimilarity(), PARENTS, 16);
    List<QueryVector> children = new ArrayList<>();
    for (QueryVector center : centers.base()) {
      for (int child = 0; child < CHILDREN; child++) {
        children.add(near(center));
      }
    }
    return new TestVectors(centers.similarity(), children);
  }

  private static QueryVector near(QueryVector center) {
    if (center.bytes() != null) {
      byte[] bytes = center.bytes().clone();
      bytes[random().nextInt(bytes.length)] ^= 3;
      return QueryVector.of(bytes);
    }
    float[] floats = center.floats().clone();
    floats[random().nextInt(floats.length)] += 0.001f * random().nextFloat();
    return QueryVector.of(floats);
  }

  private static void addBlocks(IndexWriter writer, TestVectors children) throws IOException {
    for (int parent = 0; parent < PARENTS; parent++) {
      List<Document> block = new ArrayList<>();
      for (int child = 0; child < CHILDREN; child++) {
        int id = parent * CHILDREN + child;
        block.add(document(children, id, id));
      }
      Document last = new Document();
      last.add(new StringField("type", "parent", Field.Store.NO));
      block.add(last);
      writer.addDocuments(block);
      if (random().nextInt(PARENTS) == 0) {
        writer.flush();
      }
    }
  }

  /** Lucene's query, with its collectors in a decorator that tells nothing of them if wanted. */
  private static Query query(
      QueryVector vector, Query filter, int k, KnnSearchStrategy strategy, boolean decorated) {
    return vector.floats() != null
        ? new DiversifyingChildrenFloatKnnVectorQuery(
            FIELD, vector.floats(), filter, k, PARENT_DOCS, strategy) {
          @Override
          protected KnnCollectorManager getKnnCollectorManager(int k, IndexSearcher searcher) {
            KnnCollectorManager manager = super.getKnnCollectorManager(k, searcher);
            return decorated ? new Decorating(manager) : manager;
          }
        }
        : new DiversifyingChildrenByteKnnVectorQuery(
            FIELD, vector.bytes(), filter, k, PARENT_DOCS, strategy) {
          @Override
          protected KnnCollectorManager getKnnCollectorManager(int k, IndexSearcher searcher) {
            KnnCollectorManager manager = super.getKnnCollectorManager(k, searcher);
            return decorated ? new Decorating(manager) : manager;
          }
        };
  }

  private record Decorating(KnnCollectorManager in) implements KnnCollectorManager {
    @Override
    public KnnCollector newCollector(
        int visitLimit, KnnSearchStrategy strategy, LeafReaderContext context) throws IOException {
      return new KnnCollector.Decorator(in.newCollector(visitLimit, strategy, context)) {};
    }

    @Override
    public KnnCollector newOptimisticCollector(
        int visitLimit, KnnSearchStrategy strategy, LeafReaderContext context, int k)
        throws IOException {
      return new KnnCollector.Decorator(
          in.newOptimisticCollector(visitLimit, strategy, context, k)) {};
    }

    @Override
    public boolean isOptimistic() {
      return in.isOptimistic();
    }
  }

  /** Share of the k best parents that were found, each by its best child. */
  private static double recall(
      TestVectors children, QueryVector vector, IndexSearcher searcher, Query query, int k)
      throws IOException {
    TopDocs hits = searcher.search(query, k);
    int[] ids = ids(searcher, hits);
    assertEquals(k, ids.length);
    assertWellFormed(children, vector, hits, ids, ALL);
    Map<Integer, Float> best = new HashMap<>();
    for (int id = 0; id < children.size(); id++) {
      best.merge(id / CHILDREN, children.score(vector, id), Math::max);
    }
    float last =
        best.values().stream().sorted((a, b) -> Float.compare(b, a)).skip(k - 1).findFirst().get();
    Map<Integer, Float> found = new HashMap<>();
    for (int id : ids) {
      float score = children.score(vector, id);
      assertNull("parent found twice", found.put(id / CHILDREN, score));
    }
    return found.entrySet().stream()
            .filter(hit -> hit.getValue() >= last - Math.abs(last) * 1e-4f)
            .count()
        / (double) k;
  }

  private interface Searches {
    void run(TestVectors children, IndexSearcher searcher) throws IOException;
  }

  private static void withIndex(boolean codes, Searches searches) throws IOException {
    withIndex(codes ? graphsAndCodes() : graphs(), searches);
  }

  private static void withIndex(KnnVectorsFormat format, Searches searches) throws IOException {
    TestVectors children = children();
    try (Directory directory = directory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(format))) {
        addBlocks(writer, children);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        searches.run(children, new IndexSearcher(reader));
      }
    }
  }

  private static void assertOneHitPerParent(
      TestVectors children, IndexSearcher searcher, KnnSearchStrategy strategy) throws IOException {
    for (boolean decorated : new boolean[] {false, true}) {
      for (int k : new int[] {1, 3, K, PARENTS / 2, PARENTS}) {
        // few hits say little, so it takes more queries to tell
        int queries = k <= 3 ? 40 : 6;
        double recall = 0;
        for (int i = 0; i < queries; i++) {
          QueryVector vector = near(children.get(random().nextInt(children.size())));
          Query query = query(vector, null, k, strategy, decorated);
          recall += recall(children, vector, searcher, query, k) / queries;
        }
        assertTrue(
            "recall " + recall + ", k " + k + ", decorated " + decorated + ", " + strategy,
            recall >= 0.6);
      }
    }
  }

  public void testPlain() throws IOException {
    withIndex(
        false,
        (children, searcher) ->
            assertOneHitPerParent(children, searcher, KnnSearchStrategy.Hnsw.DEFAULT));
  }

  public void testLists() throws IOException {
    withIndex(
        lists(),
        (children, searcher) ->
            assertOneHitPerParent(children, searcher, KnnSearchStrategy.Hnsw.DEFAULT));
  }

  public void testWithAnInstalledExecutor() throws IOException {
    RecordingExecutor executor = new RecordingExecutor();
    try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installation.executor());
      withIndex(
          false,
          (children, searcher) ->
              assertOneHitPerParent(children, searcher, KnnSearchStrategy.Hnsw.DEFAULT));
    }
    assertFalse(executor.items.isEmpty());
  }

  public void testWithOwnStrategies() throws IOException {
    withIndex(
        true,
        (children, searcher) -> {
          assertOneHitPerParent(
              children, searcher, new VamanaSearchStrategy(WalkParameters.exact(40)));
          assertOneHitPerParent(
              children, searcher, new VamanaSearchStrategy(WalkParameters.quantized(120, 120)));
        });
  }

  public void testFilters() throws IOException {
    boolean installed = random().nextBoolean();
    ExecutorRegistry.Installation installation =
        installed ? ExecutorRegistry.install(RecordingExecutor::new) : null;
    try {
      withIndex(
          false,
          (children, searcher) -> {
            // ids stand in for the permutation: the first parents
            for (int parents : new int[] {1, 4, 20, 200}) {
              Query filter =
                  org.apache.lucene.document.IntField.newRangeQuery(
                      SHUFFLED, 0, parents * CHILDREN - 1);
              QueryVector vector = near(children.get(random().nextInt(children.size())));
              TopDocs hits =
                  searcher.search(query(vector, filter, K, null, random().nextBoolean()), K);
              int[] ids = ids(searcher, hits);
              assertWellFormed(children, vector, hits, ids, id -> id < parents * CHILDREN);
              assertEquals(
                  Math.min(K, parents),
                  java.util.Arrays.stream(ids).map(id -> id / CHILDREN).distinct().count());
              assertEquals(Math.min(K, parents), ids.length);
            }
          });
    } finally {
      if (installation != null) {
        installation.close();
      }
    }
  }
}
