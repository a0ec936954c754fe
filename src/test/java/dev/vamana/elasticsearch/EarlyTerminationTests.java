package dev.vamana.elasticsearch;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;
import org.junit.BeforeClass;

/**
 * Elasticsearch's queries that end walks which hardly find anything new any more, as they are by
 * default.
 */
public class EarlyTerminationTests extends LuceneTestCase {

  private static final String FIELD = "vector";
  private static final String ID = "id";
  private static final int SIZE = 5_000;
  private static final int DIMENSION = 16;
  private static final int QUERIES = 40;

  private float[][] vectors;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  /** Asks for k of the documents whose number is a multiple; the others are deleted. */
  private void search(int segments, int every, int k, double leastRecall) throws IOException {
    vectors = new float[SIZE][DIMENSION];
    for (float[] vector : vectors) {
      for (int d = 0; d < DIMENSION; d++) {
        vector[d] = (float) random().nextGaussian();
      }
    }
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withGraph(32, 64, 1.2f).withThresholds(0, Integer.MAX_VALUE),
            Workers.callingThread());
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
            .setMergePolicy(NoMergePolicy.INSTANCE);
    try (Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, config)) {
      for (int id = 0; id < SIZE; id++) {
        Document document = new Document();
        document.add(new StringField(ID, "" + id, Field.Store.YES));
        document.add(
            new KnnFloatVectorField(FIELD, vectors[id], VectorSimilarityFunction.EUCLIDEAN));
        writer.addDocument(document);
        if ((id + 1) % (SIZE / segments) == 0) {
          writer.flush();
        }
      }
      for (int id = 0; id < SIZE; id++) {
        if (id % every != 0) {
          writer.deleteDocuments(new Term(ID, "" + id));
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        double recall = 0;
        for (int i = 0; i < QUERIES; i++) {
          recall += recall(new IndexSearcher(reader), every, k) / QUERIES;
        }
        assertTrue("recall " + recall, recall >= leastRecall);
      }
    }
  }

  private double recall(IndexSearcher searcher, int every, int k) throws IOException {
    float[] query = vectors[random().nextInt(SIZE)];
    TopDocs hits =
        searcher.search(
            new ESKnnFloatVectorQuery(
                FIELD, query, k, k, null, KnnSearchStrategy.Hnsw.DEFAULT, true),
            k);
    int[] nearest =
        IntStream.iterate(0, id -> id < SIZE, id -> id + every)
            .boxed()
            .sorted((a, b) -> Float.compare(score(query, b), score(query, a)))
            .limit(k)
            .mapToInt(Integer::intValue)
            .toArray();
    assertEquals(nearest.length, hits.scoreDocs.length);
    StoredFields stored = searcher.storedFields();
    int found = 0;
    for (int i = 0; i < nearest.length; i++) {
      String id = stored.document(hits.scoreDocs[i].doc).get(ID);
      found += Arrays.stream(nearest).anyMatch(near -> id.equals("" + near)) ? 1 : 0;
    }
    return found / (double) nearest.length;
  }

  private float score(float[] query, int id) {
    return VectorSimilarityFunction.EUCLIDEAN.compare(query, vectors[id]);
  }

  public void testMostDocumentsAreDeleted() throws IOException {
    for (int segments : new int[] {1, 4}) {
      search(segments, 20, 100, 1);
      search(segments, 100, 10, 1);
      search(segments, 100, 100, 1);
    }
  }

  public void testSomeDocumentsAreDeleted() throws IOException {
    search(1, 5, 100, 0.6);
    search(1, 2, 100, 0.6);
  }

  public void testMoreHitsThanAWalkFindsBeforeItSlowsDown() throws IOException {
    search(1, 1, 700, 0.6);
    search(1, 1, 10, 0.3);
  }
}
