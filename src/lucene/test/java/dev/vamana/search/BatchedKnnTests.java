package dev.vamana.search;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterDirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/** Compares batched queries with the same queries one by one. */
public class BatchedKnnTests extends SearchTestCase {

  private static final int SIZE = 2_000;
  private static final int QUERIES = 25;
  private static final int K = 10;

  private static TestVectors data(VectorEncoding encoding) {
    return TestVectors.clustered(random(), encoding, randomSimilarity(), SIZE, 16);
  }

  private static List<QueryVector> queries(TestVectors vectors) {
    return permutation(SIZE, random()).subList(0, QUERIES).stream().map(vectors::get).toList();
  }

  private static TopDocs[] batch(BatchedKnn knn, List<QueryVector> queries, int k, Query filter)
      throws IOException {
    return queries.get(0).floats() != null
        ? knn.search(
            FIELD, queries.stream().map(QueryVector::floats).toArray(float[][]::new), k, filter)
        : knn.search(
            FIELD, queries.stream().map(QueryVector::bytes).toArray(byte[][]::new), k, filter);
  }

  private static void assertSameHits(TopDocs expected, TopDocs actual) {
    assertSameHits(expected.scoreDocs, actual.scoreDocs);
  }

  public void testOneSegmentGivesTheHitsOfSingleQueries() throws IOException {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      try (TestIndex index = new TestIndex(data(encoding), graphs(), 1)) {
        List<QueryVector> queries = queries(index.vectors);
        for (int k : new int[] {1, K, 60, SIZE, SIZE + 5}) {
          TopDocs[] hits = batch(new BatchedKnn(index.searcher), queries, k, null);
          assertEquals(QUERIES, hits.length);
          int found = 0;
          int common = 0;
          for (int i = 0; i < QUERIES; i++) {
            TopDocs walked =
                single(
                    index, queries.get(i), k, new VamanaSearchStrategy(WalkParameters.defaults(k)));
            assertSameScores(index, queries.get(i), walked, hits[i]);
            TopDocs steered = single(index, queries.get(i), k, KnnSearchStrategy.Hnsw.DEFAULT);
            assertEquals(steered.scoreDocs.length, hits[i].scoreDocs.length);
            found += hits[i].scoreDocs.length;
            common += common(steered, hits[i]);
          }
          // A collector orders equal scores by their arrival, a walk by ordinal, so that the two
          // may
          // go on elsewhere: in one of a hundred seeds one hit of one query differs.
          assertTrue(common + " of " + found, found - common <= Math.max(2, found / 100));
        }
      }
    }
  }

  private static TopDocs single(
      TestIndex index, QueryVector query, int k, KnnSearchStrategy strategy) throws IOException {
    return index.searcher.search(new CountedQuery(FIELD, query, k, null, strategy).query(), k);
  }

  private static int common(TopDocs a, TopDocs b) {
    Set<Integer> docs = new HashSet<>();
    for (ScoreDoc hit : a.scoreDocs) {
      docs.add(hit.doc);
    }
    return (int) Arrays.stream(b.scoreDocs).filter(hit -> docs.contains(hit.doc)).count();
  }

  /** Equal vectors may stand for each other at the last place. */
  private static void assertSameScores(
      TestIndex index, QueryVector query, TopDocs expected, TopDocs actual) throws IOException {
    assertEquals(expected.scoreDocs.length, actual.scoreDocs.length);
    for (int i = 0; i < expected.scoreDocs.length; i++) {
      // Lucene's bulk scorers round by a vector's place in the block
      float score = expected.scoreDocs[i].score;
      assertEquals(score, actual.scoreDocs[i].score, 1e-5f * Math.abs(score));
    }
    assertWellFormed(index.vectors, query, actual, ids(index.searcher, actual), ALL);
  }

  public void testOwnWalks() throws IOException {
    try (TestIndex index = new TestIndex(data(randomEncoding()), graphsAndCodes(), 1)) {
      List<QueryVector> queries = queries(index.vectors);
      WalkParameters[] walks = {
        WalkParameters.exact(40),
        WalkParameters.quantized(40, WalkParameters.RERANK_DEFAULT),
        new WalkParameters(
            40, WalkParameters.Distances.QUANTIZED, 2, WalkParameters.RERANK_EXPANDED),
      };
      for (WalkParameters walk : walks) {
        TopDocs[] hits = new BatchedKnn(index.searcher).search(FIELD, queries, walk, K, null);
        for (int i = 0; i < QUERIES; i++) {
          CountedQuery single =
              new CountedQuery(FIELD, queries.get(i), K, null, new VamanaSearchStrategy(walk));
          assertSameHits(index.searcher.search(single.query(), K), hits[i]);
          assertEquals(single.visited(), hits[i].totalHits.value());
        }
      }
    }
  }

  /** Mean recall of a batch, and of single queries. */
  private static double[] recalls(TestIndex index, int k, Query filter, IntPredicate accepted)
      throws IOException {
    List<QueryVector> queries = queries(index.vectors);
    TopDocs[] hits = batch(new BatchedKnn(index.searcher), queries, k, filter);
    double[] recalls = new double[2];
    for (int i = 0; i < QUERIES; i++) {
      QueryVector query = queries.get(i);
      int[] ids = ids(index.searcher, hits[i]);
      assertWellFormed(index.vectors, query, hits[i], ids, accepted);
      assertEquals(index.vectors.exact(query, k, accepted).length, ids.length);
      recalls[0] += index.vectors.recall(query, k, accepted, ids) / QUERIES;
      Query single =
          new CountedQuery(FIELD, query, k, filter, KnnSearchStrategy.Hnsw.DEFAULT).query();
      int[] singleIds = ids(index.searcher, index.searcher.search(single, k));
      recalls[1] += index.vectors.recall(query, k, accepted, singleIds) / QUERIES;
    }
    return recalls;
  }

  public void testSeveralSegments() throws IOException {
    for (int segments : new int[] {2, 5}) {
      KnnVectorsFormat format = random().nextBoolean() ? graphs() : lists();
      try (TestIndex index = new TestIndex(data(randomEncoding()), format, segments)) {
        for (int k : new int[] {1, K, 50}) {
          double[] recalls = recalls(index, k, null, ALL);
          // Lucene walks some segments a second time: in few hits a batch may miss two more
          double slack = Math.max(0.02, 2.0 / (k * QUERIES));
          assertTrue(
              "batch " + recalls[0] + ", single " + recalls[1], recalls[0] >= recalls[1] - slack);
          assertTrue("recall " + recalls[0], recalls[0] >= 0.6);
        }
      }
    }
  }

  public void testFilters() throws IOException {
    try (TestIndex index =
        new TestIndex(
            data(randomEncoding()),
            random().nextBoolean() ? graphs() : lists(),
            1 + random().nextInt(3))) {
      for (int limit : new int[] {1, K - 1, SIZE / 200, SIZE / 20, SIZE / 2, SIZE}) {
        double[] recalls = recalls(index, K, index.filter(limit), index.accepted(limit));
        assertTrue(
            "recall " + recalls[0] + ", limit " + limit,
            recalls[0] >= (limit > SIZE / 20 ? 0.6 : 1));
      }
      for (TopDocs none :
          batch(
              new BatchedKnn(index.searcher),
              queries(index.vectors),
              K,
              MatchNoDocsQuery.INSTANCE)) {
        assertEquals(0, none.scoreDocs.length);
      }
    }
  }

  private static void assertOnlyLive(
      TestIndex index, IndexReader reader, IntPredicate live, Query filter) throws IOException {
    IndexSearcher searcher = new IndexSearcher(reader);
    List<QueryVector> queries = queries(index.vectors);
    TopDocs[] hits = batch(new BatchedKnn(searcher), queries, K, filter);
    double recall = 0;
    for (int i = 0; i < QUERIES; i++) {
      QueryVector query = queries.get(i);
      int[] ids = ids(searcher, hits[i]);
      assertWellFormed(index.vectors, query, hits[i], ids, live);
      assertEquals(index.vectors.exact(query, K, live).length, ids.length);
      recall += index.vectors.recall(query, K, live, ids) / QUERIES;
    }
    assertTrue("recall " + recall, recall >= 0.6);
  }

  /** As document-level security does: some documents are there, but not for this reader. */
  private static final class HidingReader extends FilterDirectoryReader {
    private final int modulus;

    HidingReader(DirectoryReader in, int modulus) throws IOException {
      super(
          in,
          new SubReaderWrapper() {
            @Override
            public LeafReader wrap(LeafReader reader) {
              FixedBitSet visible = new FixedBitSet(reader.maxDoc());
              Bits live = reader.getLiveDocs();
              for (int doc = 0; doc < reader.maxDoc(); doc++) {
                if (doc % modulus != 0 && (live == null || live.get(doc))) {
                  visible.set(doc);
                }
              }
              return new FilterLeafReader(reader) {
                @Override
                public Bits getLiveDocs() {
                  return visible;
                }

                @Override
                public int numDocs() {
                  return visible.cardinality();
                }

                @Override
                public CacheHelper getCoreCacheHelper() {
                  return null;
                }

                @Override
                public CacheHelper getReaderCacheHelper() {
                  return null;
                }
              };
            }
          });
      this.modulus = modulus;
    }

    @Override
    protected DirectoryReader doWrapDirectoryReader(DirectoryReader reader) throws IOException {
      return new HidingReader(reader, modulus);
    }

    @Override
    public CacheHelper getReaderCacheHelper() {
      return null;
    }
  }

  public void testReadersThatHideDocuments() throws IOException {
    try (TestIndex index = new TestIndex(data(randomEncoding()), graphs(), 1)) {
      int modulus = 2 + random().nextInt(3);
      // one segment without deletes: documents are ids
      IntPredicate visible = id -> id % modulus != 0;
      DirectoryReader hiding = new HidingReader(index.reader, modulus);
      assertOnlyLive(index, hiding, visible, null);
      assertOnlyLive(
          index,
          hiding,
          id -> visible.test(id) && index.shuffled.get(id) < SIZE / 2,
          index.filter(SIZE / 2));
    }
  }

  public void testSegmentsOfOtherFormats() throws IOException {
    TestVectors vectors = data(randomEncoding());
    List<Integer> shuffled = permutation(SIZE, random());
    KnnVectorsFormat[] formats = {graphs(), new Lucene99HnswVectorsFormat(), graphs()};
    try (var directory = newDirectory()) {
      int id = 0;
      for (int part = 0; part < formats.length; part++) {
        try (IndexWriter writer = new IndexWriter(directory, config(formats[part]))) {
          for (int end = (part + 1) * SIZE / formats.length; id < end; id++) {
            writer.addDocument(document(vectors, id, shuffled.get(id)));
          }
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        assertEquals(3, reader.leaves().size());
        IndexSearcher searcher = new IndexSearcher(reader);
        List<QueryVector> queries = queries(vectors);
        for (int k : new int[] {K, SIZE}) {
          TopDocs[] hits = batch(new BatchedKnn(searcher), queries, k, null);
          double recall = 0;
          for (int i = 0; i < QUERIES; i++) {
            int[] ids = ids(searcher, hits[i]);
            assertEquals(k, ids.length);
            assertWellFormed(vectors, queries.get(i), hits[i], ids, ALL);
            recall += vectors.recall(queries.get(i), k, ALL, ids) / QUERIES;
          }
          assertTrue("recall " + recall, recall >= 0.6);
        }
        // the timeout holds for those segments too
        AtomicInteger checks = new AtomicInteger();
        searcher.setTimeout(() -> checks.incrementAndGet() > 0);
        for (TopDocs hits : batch(new BatchedKnn(searcher), queries, K, null)) {
          assertTrue(hits.totalHits.value() < SIZE / 10);
        }
      }
    }
  }

  public void testInstalledExecutorGetsOneBatch() throws IOException {
    List<Integer> batches = new ArrayList<>();
    SearchExecutor executor =
        new RecordingExecutor() {
          @Override
          public List<WorkResult> search(List<WorkItem> batch) throws IOException {
            batches.add(batch.size());
            return super.search(batch);
          }
        };
    try (TestIndex index = new TestIndex(data(randomEncoding()), graphs(), 3);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installation.executor());
      List<QueryVector> queries = queries(index.vectors);
      TopDocs[] installed = batch(new BatchedKnn(index.searcher), queries, K, null);
      assertEquals(List.of(3 * QUERIES), batches);
      TopDocs[] given =
          batch(
              new BatchedKnn(index.searcher, new CpuExecutor(Workers.callingThread())),
              queries,
              K,
              null);
      assertEquals(1, batches.size());
      for (int i = 0; i < QUERIES; i++) {
        assertSameHits(installed[i], given[i]);
      }
    }
  }

  public void testBadInput() throws IOException {
    try (TestIndex index = new TestIndex(data(VectorEncoding.FLOAT32), graphs(), 1)) {
      BatchedKnn knn = new BatchedKnn(index.searcher);
      float[][] good = {index.vectors.get(0).floats()};
      assertMessage("k must be at least 1, got 0", () -> knn.search(FIELD, good, 0, null));
      assertMessage("k must be at least 1, got -3", () -> knn.search(FIELD, good, -3, null));
      assertMessage(
          "field vector has dimension 16, the query has 15",
          () -> knn.search(FIELD, new float[][] {good[0], new float[15]}, K, null));
      assertMessage(
          "field vector holds FLOAT32 vectors, the query is BYTE",
          () -> knn.search(FIELD, new byte[][] {new byte[16]}, K, null));
      float[] infinite = good[0].clone();
      infinite[3] = Float.NaN;
      expectThrows(
          IllegalArgumentException.class,
          () -> knn.search(FIELD, new float[][] {infinite}, K, null));
    }
    try (TestIndex index = new TestIndex(data(VectorEncoding.BYTE), graphs(), 1)) {
      assertMessage(
          "field vector holds BYTE vectors, the query is FLOAT32",
          () ->
              new BatchedKnn(index.searcher).search(FIELD, new float[][] {new float[16]}, K, null));
    }
  }

  private static void assertMessage(String message, org.junit.function.ThrowingRunnable code) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, code).getMessage());
  }

  /**
   * The number of queries with unmerged hits is bounded, whatever the size of the request. Each
   * call has all segments, which may lie on several devices.
   */
  public void testHitsAreMergedInSlices() throws IOException {
    int segments = 8;
    int k = SIZE;
    TestVectors vectors =
        TestVectors.clustered(random(), VectorEncoding.FLOAT32, randomSimilarity(), SIZE, 4);
    try (TestIndex index = new TestIndex(vectors, graphs(), segments)) {
      IndexReader reader = index.searcher.getIndexReader();
      int queries = (int) (3.5 * (64 << 20) / BatchedKnn.heldBytes(reader, k));
      List<BatchedKnn.Part> parts = new ArrayList<>();
      for (int left = queries; left > 0; ) {
        int count = Math.min(left, 1 + random().nextInt(queries / 2));
        // copies, since the executor tells queries apart by identity
        List<QueryVector> own = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          own.add(QueryVector.of(vectors.get(random().nextInt(SIZE)).floats().clone()));
        }
        parts.add(new BatchedKnn.Part(own, null));
        left -= count;
      }
      OneHitExecutor executor = new OneHitExecutor(reader.leaves().size());
      List<TopDocs[]> found =
          new BatchedKnn(index.searcher, executor).search(FIELD, parts, WalkParameters.exact(k), k);
      assertEquals(parts.size(), found.size());
      for (int part = 0; part < found.size(); part++) {
        assertEquals(parts.get(part).queries().size(), found.get(part).length);
        for (TopDocs hits : found.get(part)) {
          assertEquals("a hit of each segment", segments, hits.scoreDocs.length);
        }
      }
      long held = executor.mostBegun * BatchedKnn.heldBytes(reader, k);
      assertTrue("held " + held, held <= 64 << 20);
      assertTrue("slices that fill a device", held >= 60 << 20);
    }
  }

  /** Answers at once, and counts the queries that lack the answer of a segment. */
  private static final class OneHitExecutor implements SearchExecutor {
    private final int segments;
    private final Map<QueryVector, Integer> begun = new IdentityHashMap<>();
    private long mostBegun;

    OneHitExecutor(int segments) {
      this.segments = segments;
    }

    @Override
    public String name() {
      return "one hit";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) {
      List<WorkResult> results = new ArrayList<>();
      for (WorkItem item : batch) {
        begun.merge(item.query(), 1, Integer::sum);
        results.add(new WorkResult(new int[] {0}, new float[] {1}, 1, true));
      }
      mostBegun = Math.max(mostBegun, begun.size());
      begun.values().removeIf(count -> count == segments);
      assertEquals("a call searches all segments for its queries", 0, begun.size());
      return results;
    }

    @Override
    public void close() {}
  }
}
