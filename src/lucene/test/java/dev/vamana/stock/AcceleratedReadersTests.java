package dev.vamana.stock;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues;

/** Tests wrapped readers of Lucene's own formats. */
public class AcceleratedReadersTests extends LuceneTestCase {

  private static final String FIELD = "vector";
  private static final int DIMENSION = 24;
  private static final VectorSimilarityFunction SIMILARITY = VectorSimilarityFunction.EUCLIDEAN;

  /** Answers as the CPU does, and remembers what it was asked and told. */
  private static final class Remembering implements SearchExecutor {
    final List<WorkItem> asked = new ArrayList<>();
    final List<SegmentView> open = new ArrayList<>();
    private final CpuExecutor in = new CpuExecutor(Workers.callingThread());

    @Override
    public String name() {
      return "remembering";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) throws IOException {
      asked.addAll(batch);
      return in.search(batch);
    }

    @Override
    public void close() {}

    @Override
    public void opened(SegmentView segment) {
      assertFalse(open.contains(segment));
      open.add(segment);
    }

    @Override
    public void closing(SegmentView segment) {
      assertTrue(open.remove(segment));
    }
  }

  private static float[] vector() {
    float[] vector = new float[DIMENSION];
    for (int d = 0; d < DIMENSION; d++) {
      vector[d] = (float) random().nextGaussian();
    }
    return vector;
  }

  private static KnnVectorsFormat plain() {
    return new Lucene99HnswVectorsFormat(16, 100, 1, null, 0);
  }

  private static KnnVectorsFormat quantized() {
    return new Lucene104HnswScalarQuantizedVectorsFormat(
        QuantizedByteVectorValues.ScalarEncoding.SEVEN_BIT, 16, 100, 1, null, 0);
  }

  private static IndexWriter writer(Directory directory, KnnVectorsFormat format)
      throws IOException {
    return new IndexWriter(
        directory,
        new IndexWriterConfig()
            .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
            .setMergePolicy(NoMergePolicy.INSTANCE));
  }

  /** Adds documents, of which some have no vector. */
  private static void add(IndexWriter writer, int from, int to, boolean sparse) throws IOException {
    for (int id = from; id < to; id++) {
      Document document = new Document();
      document.add(new StringField("id", Integer.toString(id), Field.Store.NO));
      document.add(new StringField("even", Boolean.toString(id % 2 == 0), Field.Store.NO));
      if (sparse == false || id % 5 != 0) {
        document.add(new KnnFloatVectorField(FIELD, vector(), SIMILARITY));
      }
      writer.addDocument(document);
    }
    writer.flush();
  }

  private static ExecutorRegistry.Installation install(Remembering executor) {
    return ExecutorRegistry.install(() -> executor);
  }

  private static void assertSameHits(TopDocs expected, TopDocs actual, float tolerance) {
    assertEquals(expected.scoreDocs.length, actual.scoreDocs.length);
    for (int i = 0; i < expected.scoreDocs.length; i++) {
      assertEquals(expected.scoreDocs[i].score, actual.scoreDocs[i].score, tolerance);
    }
  }

  private static TopDocs search(DirectoryReader reader, Query query) throws IOException {
    return new IndexSearcher(reader).search(query, 10);
  }

  public void testHitsAreTheFormats() throws IOException {
    Remembering executor = new Remembering();
    try (Directory directory = newDirectory();
        ExecutorRegistry.Installation installation = install(executor)) {
      boolean sparse = random().nextBoolean();
      try (IndexWriter writer = writer(directory, plain())) {
        // so many that a walk is faster than a scan, which executors leave to the format
        add(writer, 0, 4_000, sparse);
        add(writer, 4_000, 4_300, sparse);
        writer.deleteDocuments(new Term("id", "7"), new Term("id", "4001"));
        writer.commit();
      }
      try (DirectoryReader stock = DirectoryReader.open(directory);
          DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        assertEquals(2, executor.open.size());
        for (int i = 0; i < 20; i++) {
          Query filter = i % 2 == 0 ? null : new TermQuery(new Term("even", "true"));
          Query query = new KnnFloatVectorQuery(FIELD, vector(), 20, filter);
          assertSameHits(search(stock, query), search(reader, query), 1e-6f);
        }
        assertFalse(executor.asked.isEmpty());
      }
      assertTrue(executor.open.isEmpty());
    }
  }

  /** Estimates of the format become exact scores when the executor answers. */
  public void testScoresOfQuantizedVectorsAreExact() throws IOException {
    Remembering executor = new Remembering();
    try (Directory directory = newDirectory();
        ExecutorRegistry.Installation installation = install(executor)) {
      try (IndexWriter writer = writer(directory, quantized())) {
        add(writer, 0, 4_000, false);
      }
      try (DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        FloatVectorValues values = getOnlyLeafReader(reader).getFloatVectorValues(FIELD);
        float[] query = vector();
        TopDocs hits = search(reader, new KnnFloatVectorQuery(FIELD, query, 20));
        assertEquals(10, hits.scoreDocs.length);
        for (ScoreDoc hit : hits.scoreDocs) {
          float exact = SIMILARITY.compare(query, values.vectorValue(hit.doc));
          assertEquals(exact, hit.score, 1e-5f * exact);
        }
        assertFalse(executor.asked.isEmpty());
      }
    }
  }

  public void testFormatAnswersWithoutAnExecutor() throws IOException {
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = writer(directory, quantized())) {
        add(writer, 0, 500, true);
      }
      try (DirectoryReader stock = DirectoryReader.open(directory);
          DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        Query query = new KnnFloatVectorQuery(FIELD, vector(), 20);
        assertSameHits(search(stock, query), search(reader, query), 0);
      }
    }
  }

  public void testViewsOutliveRefreshes() throws IOException {
    Remembering executor = new Remembering();
    try (Directory directory = newDirectory();
        ExecutorRegistry.Installation installation = install(executor)) {
      try (IndexWriter writer = writer(directory, plain())) {
        add(writer, 0, 300, false);
        DirectoryReader first = AcceleratedReaders.wrap(DirectoryReader.open(writer));
        SegmentView view = SegmentViews.of(first.leaves().get(0).reader(), FIELD);
        assertSame(view, executor.open.get(0));
        add(writer, 300, 500, false);
        writer.deleteDocuments(new Term("id", "3"));
        DirectoryReader second = DirectoryReader.openIfChanged(first);
        first.close();
        assertSame(view, SegmentViews.of(second.leaves().get(0).reader(), FIELD));
        assertEquals(2, executor.open.size());
        TopDocs hits = search(second, new KnnFloatVectorQuery(FIELD, vector(), 500));
        assertTrue(hits.totalHits.value() > 0);
        for (ScoreDoc hit : hits.scoreDocs) {
          assertNotEquals(3, hit.doc);
        }
        second.close();
      }
      // the writer keeps the files open for the next refresh
      assertTrue(executor.open.isEmpty());
    }
  }

  public void testBatches() throws IOException {
    Remembering executor = new Remembering();
    try (Directory directory = newDirectory();
        ExecutorRegistry.Installation installation = install(executor)) {
      try (IndexWriter writer = writer(directory, quantized())) {
        add(writer, 0, 400, true);
        add(writer, 400, 700, true);
      }
      try (DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        float[][] queries = {vector(), vector(), vector()};
        TopDocs[] hits = new BatchedKnn(new IndexSearcher(reader)).search(FIELD, queries, 10, null);
        assertEquals(6, executor.asked.size());
        for (int i = 0; i < queries.length; i++) {
          assertEquals(10, hits[i].scoreDocs.length);
          for (ScoreDoc hit : hits[i].scoreDocs) {
            assertEquals(score(reader, hit.doc, queries[i]), hit.score, 1e-5f * hit.score);
          }
        }
      }
    }
  }

  private static float score(DirectoryReader reader, int document, float[] query)
      throws IOException {
    LeafReaderContext leaf = reader.leaves().get(ReaderUtil.subIndex(document, reader.leaves()));
    FloatVectorValues values = leaf.reader().getFloatVectorValues(FIELD);
    KnnVectorValues.DocIndexIterator documents = values.iterator();
    assertEquals(document - leaf.docBase, documents.advance(document - leaf.docBase));
    return SIMILARITY.compare(query, values.vectorValue(documents.index()));
  }

  public void testBytes() throws IOException {
    Remembering executor = new Remembering();
    try (Directory directory = newDirectory();
        ExecutorRegistry.Installation installation = install(executor)) {
      try (IndexWriter writer = writer(directory, plain())) {
        for (int id = 0; id < 4_000; id++) {
          byte[] vector = new byte[DIMENSION];
          random().nextBytes(vector);
          Document document = new Document();
          document.add(new KnnByteVectorField(FIELD, vector, SIMILARITY));
          writer.addDocument(document);
        }
      }
      try (DirectoryReader stock = DirectoryReader.open(directory);
          DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        byte[] query = new byte[DIMENSION];
        random().nextBytes(query);
        Query wanted = new KnnByteVectorQuery(FIELD, query, 20);
        assertSameHits(search(stock, wanted), search(reader, wanted), 0);
        assertFalse(executor.asked.isEmpty());
        SegmentView view = SegmentViews.of(getOnlyLeafReader(reader), FIELD);
        assertEquals(4_000L * DIMENSION, view.vectorsRegion().length());
      }
    }
  }

  /** The formats' graphs have nodes at level 0 that only the upper levels lead to. */
  public void testEveryNodeCanBeReached() throws IOException {
    Remembering executor = new Remembering();
    try (Directory directory = newDirectory();
        ExecutorRegistry.Installation installation = install(executor)) {
      try (IndexWriter writer =
          writer(directory, new Lucene99HnswVectorsFormat(6, 8, 1, null, 0))) {
        add(writer, 0, 2_000, false);
      }
      try (DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        SegmentView view = executor.open.get(0);
        Adjacency graph = view.adjacency();
        assertEquals(12, graph.maxDegree());
        int[] row = new int[graph.maxDegree()];
        Set<Integer> reached = new HashSet<>(List.of(view.medoid()));
        List<Integer> waiting = new ArrayList<>(reached);
        while (waiting.isEmpty() == false) {
          int degree = graph.neighbors(waiting.remove(waiting.size() - 1), row);
          for (int i = 0; i < degree; i++) {
            if (reached.add(row[i])) {
              waiting.add(row[i]);
            }
          }
        }
        assertEquals(view.size(), reached.size());
        assertRowsAreTheGraphs(view);
      }
    }
  }

  private static void assertRowsAreTheGraphs(SegmentView view) throws IOException {
    Adjacency graph = view.adjacency();
    StoredAdjacency rows = new StoredAdjacency(view.graphRegion(), view.size(), graph.maxDegree());
    int[] expected = new int[graph.maxDegree()];
    int[] actual = new int[graph.maxDegree()];
    for (int node = 0; node < view.size(); node++) {
      int degree = graph.neighbors(node, expected);
      assertEquals(degree, rows.neighbors(node, actual));
      for (int i = 0; i < degree; i++) {
        assertEquals(expected[i], actual[i]);
      }
    }
  }

  /** Uploads read vectors that quantized formats do not show as a slice of their file. */
  public void testRowsAreTheRawVectors() throws IOException {
    Remembering executor = new Remembering();
    try (Directory directory = newDirectory();
        ExecutorRegistry.Installation installation = install(executor)) {
      try (IndexWriter writer = writer(directory, random().nextBoolean() ? quantized() : plain())) {
        add(writer, 0, 200, true);
      }
      try (DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        for (LeafReaderContext leaf : reader.leaves()) {
          SegmentView view = SegmentViews.of(leaf.reader(), FIELD);
          assertNull("closed before executors know", view.vectorsRegion().segment());
          FloatVectorValues values = leaf.reader().getFloatVectorValues(FIELD);
          IndexInput rows = view.vectorsRegion().open();
          float[] row = new float[DIMENSION];
          for (int ordinal = 0; ordinal < view.size(); ordinal++) {
            rows.readFloats(row, 0, DIMENSION);
            assertArrayEquals(values.vectorValue(ordinal), row, 0);
          }
        }
      }
    }
  }
}
