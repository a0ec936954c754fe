package dev.vamana.elasticsearch.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.WalkChange;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopScoreDocCollectorManager;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.VectorUtil;
import org.elasticsearch.search.vectors.ESKnnByteVectorQuery;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;
import org.elasticsearch.search.vectors.RescoreKnnVectorQuery;
import org.elasticsearch.search.vectors.VectorSimilarityQuery;
import org.junit.BeforeClass;

/** A batch by the node's executor has the hits that its queries have one at a time. */
public class ExecutorSearchTests extends LuceneTestCase {
  private static final String FIELD = "v";
  private static final int DIMS = 12;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  public void testFloats() throws IOException {
    for (int round = 0; round < 6; round++) {
      assertSameHits(true, 1);
    }
  }

  public void testBytes() throws IOException {
    for (int round = 0; round < 6; round++) {
      assertSameHits(false, 1);
    }
  }

  /** Over segments the batch walks each at least as wide, so that it may only find more. */
  public void testSeveralSegments() throws IOException {
    assertSameHits(true, 4);
    assertSameHits(false, 3);
  }

  public void testNothingToHandOver() throws IOException {
    assertNull(ExecutorRegistry.current());
    try (Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, config());
        DirectoryReader reader = DirectoryReader.open(writer)) {
      assertNull(ExecutorSearch.of(new IndexSearcher(reader), new Query[0]));
    }
  }

  private static IndexWriterConfig config() {
    VamanaParameters parameters =
        VamanaParameters.DEFAULT
            .withGraph(16, 40, 1.2f)
            .withThresholds(random().nextInt(200), Integer.MAX_VALUE);
    return new IndexWriterConfig()
        .setCodec(
            TestUtil.alwaysKnnVectorsFormat(
                new VamanaVectorsFormat(parameters, Workers.callingThread())));
  }

  private void assertSameHits(boolean floats, int segments) throws IOException {
    VectorSimilarityFunction similarity = VectorSimilarityFunction.values()[random().nextInt(4)];
    int count = 300 + random().nextInt(700);
    IndexWriterConfig config = config();
    config.setMergePolicy(segments == 1 ? new TieredMergePolicy() : NoMergePolicy.INSTANCE);
    try (Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, config)) {
      for (int doc = 0; doc < count; doc++) {
        Document document = new Document();
        document.add(new IntField("n", doc, Field.Store.NO));
        if (random().nextInt(20) > 0) {
          document.add(
              floats
                  ? new KnnFloatVectorField(FIELD, floats(), similarity)
                  : new KnnByteVectorField(FIELD, bytes(), similarity));
        }
        writer.addDocument(document);
        if (doc % (count / segments + 1) == count / segments) {
          writer.flush();
        }
      }
      if (segments == 1) {
        writer.forceMerge(1);
      }
      if (random().nextBoolean()) {
        writer.deleteDocuments(IntField.newRangeQuery("n", 5, 5 + random().nextInt(count / 3)));
      }
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertSameHits(new IndexSearcher(reader), floats, count, segments == 1);
      }
    }
  }

  private void assertSameHits(IndexSearcher searcher, boolean floats, int count, boolean exactly)
      throws IOException {
    int k = 1 + random().nextInt(20);
    int candidates = k + random().nextInt(60);
    List<Query> filters = new ArrayList<>();
    filters.add(null);
    filters.add(IntField.newRangeQuery("n", 0, random().nextInt(count)));
    filters.add(IntField.newRangeQuery("n", random().nextInt(count), count));
    int different = 1 + random().nextInt(3);
    boolean rescored = random().nextBoolean();
    float leastScore = random().nextBoolean() ? Float.NEGATIVE_INFINITY : 0.2f;
    Query[] queries = new Query[30];
    for (int i = 0; i < queries.length; i++) {
      Query filter = filters.get(random().nextInt(different));
      Query query =
          floats
              ? floats(k, candidates, filter, rescored)
              : new ESKnnByteVectorQuery(FIELD, bytes(), k, candidates, filter, strategy());
      boolean threshold = leastScore > Float.NEGATIVE_INFINITY;
      queries[i] = threshold ? new VectorSimilarityQuery(query, 0, leastScore) : query;
    }
    try (CpuExecutor executor = new CpuExecutor(Workers.callingThread());
        ExecutorRegistry.Installation installed = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installed.executor());
      ScoreDoc[][] found =
          ExecutorSearch.of(searcher, queries).search(queries, k, leastScore, WalkChange.NONE);
      int same = 0;
      int all = 0;
      for (int i = 0; i < queries.length; i++) {
        ScoreDoc[] expected =
            searcher.search(queries[i], new TopScoreDocCollectorManager(k, null, Integer.MAX_VALUE))
                .scoreDocs;
        assertTrue(found[i].length >= expected.length);
        all += expected.length;
        for (int rank = 0; rank < expected.length; rank++) {
          same += found[i][rank].doc == expected[rank].doc ? 1 : 0;
          if (exactly) {
            assertEquals("query " + i, expected[rank].doc, found[i][rank].doc);
          }
          float tolerance = 1e-5f * expected[rank].score;
          assertTrue(found[i][rank].score >= expected[rank].score - tolerance);
        }
        assertTrue(exactly == false || found[i].length == expected.length);
      }
      assertTrue(same + " of " + all, same >= 0.95 * all);
    }
  }

  /** A query of a field of floats, or of a quantized type, which computes scores of more hits. */
  private static Query floats(int k, int candidates, Query filter, boolean rescored) {
    float[] vector = floats();
    int hits = rescored ? Math.min(3 * k, candidates) : k;
    Query query = new ESKnnFloatVectorQuery(FIELD, vector, hits, candidates, filter, strategy());
    return rescored ? RescoreKnnVectorQuery.fromInnerQuery(FIELD, vector, k, hits, query) : query;
  }

  private static KnnSearchStrategy strategy() {
    return new KnnSearchStrategy.Hnsw(60);
  }

  private static float[] floats() {
    float[] vector = new float[DIMS];
    for (int d = 0; d < DIMS; d++) {
      vector[d] = (float) random().nextGaussian();
    }
    VectorUtil.l2normalize(vector);
    return vector;
  }

  private static byte[] bytes() {
    byte[] vector = new byte[DIMS];
    random().nextBytes(vector);
    return vector;
  }
}
