package dev.vamana.search;

import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.PatienceKnnVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.IOUtils;

/** Tests segments of which most documents are deleted and have not been merged away. */
public class DeletedDocumentsTests extends SearchTestCase {

  private static final int SIZE = 5_000;
  private static final int QUERIES = 15;

  /** How documents are deleted, and who sees it. */
  private enum Deletes {
    /** The live documents are read from a file. */
    COMMITTED,
    /** They come from the writer. */
    UNCOMMITTED,
    /** Documents are marked by a field. */
    SOFT
  }

  /** An index of {@link #SIZE} vectors after deletions. */
  private static final class Left implements Closeable {
    private final TestVectors vectors =
        TestVectors.clustered(
            random(), VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, SIZE, 16);
    private final Set<Integer> live;
    private final Directory directory = directory();
    private final IndexWriter writer;
    private final DirectoryReader reader;
    private final IndexSearcher searcher;

    /** Keeps so many documents, at random places. */
    Left(KnnVectorsFormat format, int segments, int kept, Deletes deletes) throws IOException {
      this(format, segments, new HashSet<>(permutation(SIZE, random()).subList(0, kept)), deletes);
    }

    Left(KnnVectorsFormat format, int segments, Set<Integer> live, Deletes deletes)
        throws IOException {
      this.live = live;
      boolean soft = deletes == Deletes.SOFT;
      IndexWriterConfig config = config(format);
      if (soft) {
        config.setSoftDeletesField("deleted");
      }
      this.writer = new IndexWriter(directory, config);
      for (int id = 0; id < SIZE; id++) {
        Document document = document(vectors, id, id);
        document.add(new StringField("key", "" + id, Field.Store.NO));
        writer.addDocument(document);
        if ((long) (id + 1) * segments / SIZE > (long) id * segments / SIZE) {
          writer.flush();
        }
      }
      writer.commit();
      for (int id = 0; id < SIZE; id++) {
        Term key = new Term("key", "" + id);
        if (live.contains(id)) {
          continue;
        }
        if (soft) {
          writer.updateDocValues(key, new NumericDocValuesField("deleted", 1));
        } else {
          writer.deleteDocuments(key);
        }
      }
      if (deletes == Deletes.COMMITTED) {
        writer.commit();
      }
      DirectoryReader opened =
          deletes == Deletes.COMMITTED
              ? DirectoryReader.open(directory)
              : DirectoryReader.open(writer);
      this.reader = soft ? new SoftDeletesDirectoryReaderWrapper(opened, "deleted") : opened;
      this.searcher = new IndexSearcher(reader);
      assertEquals(live.size(), reader.numDocs());
    }

    IntPredicate accepted() {
      return live::contains;
    }

    QueryVector query() {
      return vectors.get(random().nextInt(SIZE));
    }

    void assertNearest(QueryVector query, int k, TopDocs hits) throws IOException {
      int[] ids = ids(searcher, hits);
      assertEquals(Math.min(k, live.size()), ids.length);
      assertWellFormed(vectors, query, hits, ids, accepted());
      assertEquals(1, vectors.recall(query, k, accepted(), ids), 0);
    }

    @Override
    public void close() throws IOException {
      IOUtils.close(reader, writer, directory);
    }
  }

  /** Makes a query for the k nearest of a vector. */
  private interface Queries {
    Query of(QueryVector vector, int k);
  }

  private static Query plain(QueryVector vector, int k) {
    return new KnnFloatVectorQuery(FIELD, vector.floats(), k);
  }

  private static Query patient(QueryVector vector, int k) {
    return PatienceKnnVectorQuery.fromFloatQuery(
        new KnnFloatVectorQuery(FIELD, vector.floats(), k));
  }

  private static void assertNearest(KnnVectorsFormat format, int segments, Queries queries)
      throws IOException {
    for (Deletes deletes : Deletes.values()) {
      for (int k : new int[] {100, 10}) {
        int kept = k == 100 ? SIZE / 20 : SIZE / 100;
        try (Left left = new Left(format, segments, kept, deletes)) {
          for (int i = 0; i < QUERIES; i++) {
            QueryVector vector = left.query();
            TopDocs hits = left.searcher.search(queries.of(vector, k), k);
            left.assertNearest(vector, k, hits);
          }
        }
      }
    }
  }

  public void testGraph() throws IOException {
    assertNearest(graphs(), 1, DeletedDocumentsTests::plain);
  }

  public void testGraphsOfSegmentsWithPatience() throws IOException {
    assertNearest(graphs(), 3, DeletedDocumentsTests::patient);
  }

  public void testListsOfSegments() throws IOException {
    assertNearest(lists(), 3, DeletedDocumentsTests::plain);
  }

  public void testMoreHitsThanDocumentsAreLeft() throws IOException {
    for (int segments : new int[] {1, 3}) {
      for (KnnVectorsFormat format : new KnnVectorsFormat[] {graphs(), lists()}) {
        try (Left left = new Left(format, segments, 30, Deletes.UNCOMMITTED)) {
          QueryVector vector = left.query();
          left.assertNearest(vector, 100, left.searcher.search(plain(vector, 100), 100));
          left.assertNearest(vector, 100, left.searcher.search(patient(vector, 100), 100));
        }
      }
    }
  }

  /** A collector that is not full is not ended by patience, whatever is deleted. */
  public void testPatienceOfWalks() throws IOException {
    for (int kept : new int[] {SIZE, SIZE / 2, SIZE / 5}) {
      try (Left left = new Left(graphs(), 1, kept, Deletes.COMMITTED)) {
        double recall = 0;
        for (int i = 0; i < QUERIES; i++) {
          QueryVector vector = left.query();
          KnnFloatVectorQuery knn = new KnnFloatVectorQuery(FIELD, vector.floats(), 100);
          TopDocs hits =
              left.searcher.search(PatienceKnnVectorQuery.fromFloatQuery(knn, 0.01, 1), 100);
          int[] ids = ids(left.searcher, hits);
          assertEquals(100, ids.length);
          assertWellFormed(left.vectors, vector, hits, ids, left.accepted());
          recall += left.vectors.recall(vector, 100, left.accepted(), ids) / QUERIES;
        }
        assertTrue("recall " + recall, recall > 0.3);
      }
    }
  }

  /** Segments have shares of the hits by their documents; a segment may have lost all documents. */
  public void testAllHitsAreInOneSegment() throws IOException {
    Set<Integer> last = new HashSet<>();
    for (int id = SIZE - SIZE / 4; id < SIZE; id++) {
      last.add(id);
    }
    for (KnnVectorsFormat format : new KnnVectorsFormat[] {graphs(), lists()}) {
      try (Left left = new Left(format, 8, last, Deletes.UNCOMMITTED)) {
        for (int i = 0; i < QUERIES; i++) {
          QueryVector vector = left.query();
          for (Query query : List.of(plain(vector, 700), patient(vector, 700))) {
            TopDocs hits = left.searcher.search(query, 700);
            assertEquals(700, hits.scoreDocs.length);
          }
        }
      }
    }
  }

  public void testThresholds() throws IOException {
    try (Left left = new Left(graphs(), 2, SIZE / 20, Deletes.UNCOMMITTED)) {
      for (int i = 0; i < QUERIES; i++) {
        QueryVector vector = left.query();
        int[] nearest = left.vectors.exact(vector, 60, left.accepted());
        float least = left.vectors.score(vector, nearest[59]) * (1 - 1e-5f);
        Query query = ThresholdQueries.of(FIELD, vector, least, 0, null, null);
        left.assertNearest(vector, 60, new TopDocs(null, atMost(60, left, query)));
      }
    }
  }

  private static ScoreDoc[] atMost(int count, Left left, Query query) throws IOException {
    ScoreDoc[] hits = left.searcher.search(query, SIZE).scoreDocs;
    assertTrue("hits " + hits.length, hits.length >= count);
    return Arrays.copyOf(hits, count);
  }

  public void testBatches() throws IOException {
    for (KnnVectorsFormat format : new KnnVectorsFormat[] {graphs(), lists()}) {
      for (int segments : new int[] {1, 3}) {
        for (int k : new int[] {100, 10}) {
          int kept = k == 100 ? SIZE / 20 : SIZE / 100;
          try (Left left = new Left(format, segments, kept, Deletes.UNCOMMITTED)) {
            float[][] queries = new float[QUERIES][];
            for (int i = 0; i < QUERIES; i++) {
              queries[i] = left.query().floats();
            }
            TopDocs[] hits =
                new BatchedKnn(left.searcher, new CpuExecutor(Workers.callingThread()))
                    .search(FIELD, queries, k, null);
            for (int i = 0; i < QUERIES; i++) {
              left.assertNearest(QueryVector.of(queries[i]), k, hits[i]);
            }
          }
        }
      }
    }
  }

  /** Documents of the reader's segments come with the count of the live ones, or without. */
  public void testTheScanOfTheFewThatAreLeft() throws IOException {
    for (Deletes deletes : Deletes.values()) {
      try (Left left = new Left(graphs(), 1, SIZE / 20, deletes)) {
        LeafReader leaf = getOnlyLeafReader(left.reader);
        QueryVector vector = left.query();
        TopKnnCollector collector = new TopKnnCollector(100, Integer.MAX_VALUE);
        leaf.searchNearestVectors(
            FIELD,
            vector.floats(),
            collector,
            AcceptDocs.fromLiveDocs(leaf.getLiveDocs(), leaf.maxDoc()));
        left.assertNearest(vector, 100, collector.topDocs());
        // no other vectors are compared
        assertEquals(SIZE / 20, collector.visitedCount());
      }
    }
  }

  public void testDocumentsAddedAfterwards() throws IOException {
    try (Left left = new Left(graphs(), 2, 60, Deletes.UNCOMMITTED)) {
      int added = 700;
      TestVectors more =
          TestVectors.clustered(
              random(), VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, added, 16);
      for (int id = 0; id < added; id++) {
        Document document = new Document();
        document.add(new IntField(ID, id, Field.Store.NO));
        document.add(vectorField(more, id));
        left.writer.addDocument(document);
      }
      try (DirectoryReader reader = DirectoryReader.open(left.writer)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        for (int k : new int[] {50, 400, 755, 1_000}) {
          QueryVector vector = left.query();
          for (Query query : List.of(plain(vector, k), patient(vector, k))) {
            assertEquals(Math.min(k, 760), searcher.search(query, k).scoreDocs.length);
          }
        }
      }
    }
  }
}
