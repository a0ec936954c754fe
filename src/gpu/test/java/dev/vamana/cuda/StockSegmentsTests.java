package dev.vamana.cuda;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.stock.AcceleratedReaders;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.VectorUtil;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues;

/** Searches segments of Lucene's HNSW formats on the device. */
public class StockSegmentsTests extends GpuTestCase {

  private static final int SIZE = 2_000;
  private static final int DIMENSION = 20;
  private static final int K = 10;

  private final VectorSimilarityFunction similarity =
      VectorSimilarityFunction.values()[random().nextInt(4)];

  private float[] vector() {
    float[] vector = new float[DIMENSION];
    for (int d = 0; d < DIMENSION; d++) {
      vector[d] = (float) random().nextGaussian();
    }
    if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
      VectorUtil.l2normalize(vector);
    }
    return vector;
  }

  private static final KnnVectorsFormat PLAIN = new Lucene99HnswVectorsFormat(16, 100, 1, null, 0);

  private static KnnVectorsFormat format() {
    return random().nextBoolean()
        ? PLAIN
        : new Lucene104HnswScalarQuantizedVectorsFormat(
            QuantizedByteVectorValues.ScalarEncoding.SEVEN_BIT, 16, 100, 1, null, 0);
  }

  private void index(Directory directory, boolean sparse, KnnVectorsFormat format)
      throws IOException {
    try (IndexWriter writer =
        new IndexWriter(
            directory,
            new IndexWriterConfig()
                .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
                .setMergePolicy(NoMergePolicy.INSTANCE))) {
      for (int id = 0; id < SIZE; id++) {
        Document document = new Document();
        document.add(new StringField("id", Integer.toString(id), Field.Store.NO));
        document.add(new StringField("third", Boolean.toString(id % 3 == 0), Field.Store.NO));
        if (sparse == false || id % 7 != 0) {
          document.add(new KnnFloatVectorField(FIELD, vector(), similarity));
        }
        writer.addDocument(document);
      }
      writer.flush();
      writer.deleteDocuments(new Term("id", "11"), new Term("id", "12"));
    }
  }

  public void testDeviceAnswersWithExactScores() throws IOException {
    Placement placement = random().nextBoolean() ? Placement.EXACT : Placement.EXACT_FLOAT16;
    try (Directory directory = newDirectory();
        GpuExecutor executor =
            openAtOnce(WALKS, GpuTestCase::driver, everything(placement), new QuietListener());
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      KnnVectorsFormat format = format();
      index(directory, random().nextBoolean(), format);
      try (DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        SegmentView view = SegmentViews.of(getOnlyLeafReader(reader), FIELD);
        assertEquals(DevicePresence.State.RESIDENT, executor.presence(view).state());
        double found = 0;
        for (int i = 0; i < 10; i++) {
          // Lucene scores few accepted vectors by itself, and then by the format's estimates
          boolean filtered = i % 2 == 0 && format == PLAIN;
          Query filter = filtered == false ? null : new TermQuery(new Term("third", "false"));
          found += checkHits(reader, vector(), filter);
        }
        assertTrue("recall " + found / 10, found / 10 > 0.75);
        assertEquals(0, executor.statistics().counter("items_on_cpu", "not_resident"));
        assertTrue(
            executor.statistics().counter("items_by_placement", placement.settingName()) >= 5);
      }
    }
  }

  /** Compares the scores of hits with the similarity function's, and returns the recall. */
  private double checkHits(DirectoryReader reader, float[] query, Query filter) throws IOException {
    IndexSearcher searcher = new IndexSearcher(reader);
    TopDocs hits = searcher.search(new KnnFloatVectorQuery(FIELD, query, K, filter), K);
    FloatVectorValues values = getOnlyLeafReader(reader).getFloatVectorValues(FIELD);
    var documents = values.iterator();
    int better = 0;
    float last = Float.POSITIVE_INFINITY;
    for (ScoreDoc hit : hits.scoreDocs) {
      assertTrue(hit.score <= last);
      last = hit.score;
      assertTrue(hit.doc != 11 && hit.doc != 12);
    }
    assertEquals(K, hits.scoreDocs.length);
    List<Integer> found = java.util.Arrays.stream(hits.scoreDocs).map(hit -> hit.doc).toList();
    while (documents.nextDoc() != org.apache.lucene.search.DocIdSetIterator.NO_MORE_DOCS) {
      float score = similarity.compare(query, values.vectorValue(documents.index()));
      int at = found.indexOf(documents.docID());
      if (at >= 0) {
        assertEquals(score, hits.scoreDocs[at].score, 1e-5f * Math.abs(score));
      }
      boolean accepted = filter == null || documents.docID() % 3 != 0;
      boolean live = documents.docID() != 11 && documents.docID() != 12;
      better += accepted && live && score > last * (1 + 1e-6f) ? 1 : 0;
    }
    return Math.min(1, K / (double) Math.max(K, better + 1));
  }

  public void testFormatAnswersWhileNothingIsResident() throws IOException {
    try (Directory directory = newDirectory();
        GpuExecutor executor = openWithout(WALKS, GpuTestCase::driver, new QuietListener());
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      index(directory, random().nextBoolean(), format());
      try (DirectoryReader stock = DirectoryReader.open(directory);
          DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        float[] query = vector();
        TopDocs expected =
            new IndexSearcher(stock).search(new KnnFloatVectorQuery(FIELD, query, K), K);
        TopDocs actual =
            new IndexSearcher(reader).search(new KnnFloatVectorQuery(FIELD, query, K), K);
        for (int i = 0; i < K; i++) {
          assertEquals(expected.scoreDocs[i].doc, actual.scoreDocs[i].doc);
          assertEquals(expected.scoreDocs[i].score, actual.scoreDocs[i].score, 0);
        }
        assertEquals(1, executor.statistics().counter("items_on_cpu", "not_resident"));
      }
    }
  }

  /** The format answers what the plan leaves to the CPU. */
  public void testCpuAnswersAsTheDevice() throws IOException {
    try (Directory directory = newDirectory();
        GpuExecutor executor =
            openAtOnce(
                QUIET.withPlan(PlanMode.CPU),
                GpuTestCase::driver,
                everything(Placement.EXACT),
                new QuietListener());
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      index(directory, true, format());
      try (DirectoryReader stock = DirectoryReader.open(directory);
          DirectoryReader reader = AcceleratedReaders.wrap(DirectoryReader.open(directory))) {
        float[] query = vector();
        TopDocs expected =
            new IndexSearcher(stock).search(new KnnFloatVectorQuery(FIELD, query, K), K);
        TopDocs actual =
            new IndexSearcher(reader).search(new KnnFloatVectorQuery(FIELD, query, K), K);
        for (int i = 0; i < K; i++) {
          assertEquals(expected.scoreDocs[i].doc, actual.scoreDocs[i].doc);
        }
      }
    }
  }
}
