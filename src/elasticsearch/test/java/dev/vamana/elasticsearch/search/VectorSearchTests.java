package dev.vamana.elasticsearch.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.WalkChange;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.search.internal.ContextIndexSearcher;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;
import org.elasticsearch.tasks.TaskId;
import org.junit.BeforeClass;

/** Tests the memory of a batch in a shard, and the breaker's count of it. */
public class VectorSearchTests extends LuceneTestCase {
  private static final String FIELD = "v";
  private static final int DIMS = 3;
  private static final int DOCS = 800;
  private static final int SEGMENTS = 4;
  private static final int HIT_BYTES = 8 + 24;

  private DirectoryReader reader;
  private Directory directory;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  @Override
  public void setUp() throws Exception {
    super.setUp();
    VamanaParameters scans = VamanaParameters.DEFAULT.withThresholds(Integer.MAX_VALUE, 0);
    directory = newDirectory();
    try (IndexWriter writer =
        new IndexWriter(
            directory,
            new IndexWriterConfig()
                .setMergePolicy(NoMergePolicy.INSTANCE)
                .setCodec(
                    TestUtil.alwaysKnnVectorsFormat(
                        new VamanaVectorsFormat(scans, Workers.callingThread()))))) {
      for (int doc = 0; doc < DOCS; doc++) {
        Document document = new Document();
        document.add(new IntField("n", doc, Field.Store.NO));
        document.add(new KnnFloatVectorField(FIELD, vector(), VectorSimilarityFunction.EUCLIDEAN));
        writer.addDocument(document);
        if ((doc + 1) % (DOCS / SEGMENTS) == 0) {
          writer.commit();
        }
      }
    }
    reader = DirectoryReader.open(directory);
    assertEquals(SEGMENTS, reader.leaves().size());
  }

  @Override
  public void tearDown() throws Exception {
    reader.close();
    directory.close();
    super.tearDown();
  }

  private static float[] vector() {
    float[] vector = new float[DIMS];
    for (int d = 0; d < DIMS; d++) {
      vector[d] = (float) random().nextGaussian();
    }
    return vector;
  }

  /** A query of the field by another name, as requests may give it; see FilteredQueries. */
  private static ShardQuery query(int vectors, int k, int candidates, List<QueryBuilder> filters) {
    float[][] floats = new float[vectors][];
    for (int i = 0; i < vectors; i++) {
      floats[i] = vector();
    }
    return new ShardQuery(
        "alias of " + FIELD,
        QueryVectors.ofFloats(floats),
        k,
        candidates,
        QueryFilters.of(filters),
        null,
        WalkChange.NONE,
        false,
        null,
        true,
        0);
  }

  /** The queries of vectors, with ranges of a field as filters. */
  private static final class FilteredQueries implements VectorSearch.Queries {
    private final ShardQuery query;
    private final List<Query> filters = new ArrayList<>();
    private int made;

    FilteredQueries(ShardQuery query) {
      this.query = query;
      for (QueryBuilder filter : query.filters().distinct()) {
        filters.add(filter == null ? null : IntField.newRangeQuery("n", 0, 10 * filters.size()));
      }
    }

    @Override
    public boolean filtered() {
      return filters.size() > 1 || filters.get(0) != null;
    }

    @Override
    public int group(int number) {
      return query.filters().group(number);
    }

    @Override
    public Query of(int number) {
      made++;
      return new ESKnnFloatVectorQuery(
          FIELD,
          query.vectors().floats()[number],
          query.k(),
          query.numCandidates(),
          filters.get(group(number)),
          new KnnSearchStrategy.Hnsw(60));
    }
  }

  /** Compares the breaker's count with the memory of the items that it has seen. */
  private static final class CountingExecutor implements SearchExecutor {
    private final CpuExecutor in = new CpuExecutor(Workers.callingThread());
    private final CircuitBreaker breaker;
    private int calls;
    private long mostHits;

    CountingExecutor(CircuitBreaker breaker) {
      this.breaker = breaker;
    }

    @Override
    public String name() {
      return "counting";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) throws IOException {
      calls++;
      List<WorkResult> results = in.search(batch);
      long hits = results.stream().mapToLong(result -> result.ordinals().length).sum();
      mostHits = Math.max(mostHits, hits);
      long held = hits * HIT_BYTES;
      assertTrue(held + " bytes, charged " + breaker.getUsed(), breaker.getUsed() >= held);
      return results;
    }

    @Override
    public void close() {}
  }

  private Hits search(ShardQuery query, BreakerCharge charge) throws IOException {
    try (ContextIndexSearcher searcher =
        new ContextIndexSearcher(
            reader,
            IndexSearcher.getDefaultSimilarity(),
            IndexSearcher.getDefaultQueryCache(),
            IndexSearcher.getDefaultQueryCachingPolicy(),
            true)) {
      FilteredQueries queries = new FilteredQueries(query);
      BatchSearchTask task =
          new BatchSearchTask(1, "type", "action", "", TaskId.EMPTY_TASK_ID, Map.of());
      Hits hits =
          new VectorSearch(searcher, new Workers(Runnable::run, 1), task, charge, () -> false)
              .search(0, query, queries, Float.NEGATIVE_INFINITY);
      int count = query.vectors().count();
      assertEquals("each query made once", count, queries.made);
      assertEquals(count, task.getStatus().done());
      return hits;
    }
  }

  private void assertHits(ShardQuery query, Hits hits) throws IOException {
    FilteredQueries queries = new FilteredQueries(query);
    IndexSearcher searcher = new IndexSearcher(reader);
    for (int sample = 0; sample < 40; sample++) {
      int number = random().nextInt(query.vectors().count());
      ScoreDoc[] expected =
          searcher.search(
                  queries.of(number),
                  new TopScoreDocCollectorManager(query.k(), null, Integer.MAX_VALUE))
              .scoreDocs;
      int start = hits.start(number);
      assertEquals(expected.length, hits.ends()[number] - start);
      for (int i = 0; i < expected.length; i++) {
        assertEquals(expected[i].doc, hits.docs()[start + i]);
        assertEquals(expected[i].score, hits.scores()[start + i], 1e-5);
      }
    }
  }

  private static List<QueryBuilder> filters(int vectors, int different) {
    List<QueryBuilder> filters = new ArrayList<>();
    for (int i = 0; i < vectors; i++) {
      int filter = random().nextInt(different);
      filters.add(filter == 0 ? null : QueryBuilders.termQuery("n", filter));
    }
    return filters;
  }

  /** The executor checks the breaker after each slice. */
  public void testWhatIsHeldIsCharged() throws IOException {
    int vectors = 4_000;
    int k = DOCS / SEGMENTS;
    for (int different : new int[] {1, 4}) {
      ShardQuery query = query(vectors, k, k, filters(vectors, different));
      CircuitBreaker breaker = RequestBreaker.withLimit(1L << 30);
      CountingExecutor executor = new CountingExecutor(breaker);
      Hits hits;
      try (BreakerCharge charge = new BreakerCharge(breaker);
          ExecutorRegistry.Installation installed = ExecutorRegistry.install(() -> executor)) {
        assertSame(executor, installed.executor());
        hits = search(query, charge);
        assertEquals("the hits are left", hits.ramBytesUsed(), breaker.getUsed());
      }
      assertEquals(0, breaker.getUsed());
      assertTrue(executor.calls > 1);
      assertTrue("held " + executor.mostHits, executor.mostHits * HIT_BYTES <= 64L << 20);
      assertHits(query, hits);
    }
  }

  /** A batch that does not fit is refused before the executor is called, and releases all bytes. */
  public void testTooLarge() throws IOException {
    int vectors = 4_000;
    int k = DOCS / SEGMENTS;
    ShardQuery query = query(vectors, k, k, filters(1, 1));
    CircuitBreaker breaker = RequestBreaker.withLimit((long) vectors * k * 8 + (1 << 20));
    CountingExecutor executor = new CountingExecutor(breaker);
    try (BreakerCharge charge = new BreakerCharge(breaker);
        ExecutorRegistry.Installation installed = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installed.executor());
      expectThrows(CircuitBreakingException.class, () -> search(query, charge));
    }
    assertEquals(0, executor.calls);
    assertEquals(0, breaker.getUsed());
  }
}
