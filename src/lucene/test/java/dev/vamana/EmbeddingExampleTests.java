package dev.vamana;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** The examples of the README and of docs/lucene, for applications that embed the format. */
public class EmbeddingExampleTests extends LuceneTestCase {

  public void testTheExample() throws IOException {
    Codec codec =
        new Lucene104Codec() {
          @Override
          public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
            return new VamanaVectorsFormat();
          }
        };
    IndexWriterConfig config = new IndexWriterConfig().setCodec(codec);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int i = 0; i < 100; i++) {
          Document document = new Document();
          document.add(new KnnFloatVectorField("embedding", new float[] {i, 1}));
          writer.addDocument(document);
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        float[][] queries = {{7.1f, 1}, {93.9f, 1}};
        TopDocs[] hits = new BatchedKnn(searcher).search("embedding", queries, 10, null);
        assertEquals(queries.length, hits.length);
        assertEquals(7, hits[0].scoreDocs[0].doc);
        assertEquals(94, hits[1].scoreDocs[0].doc);
        for (int i = 0; i < queries.length; i++) {
          TopDocs single =
              searcher.search(new KnnFloatVectorQuery("embedding", queries[i], 10), 10);
          assertEquals(10, hits[i].scoreDocs.length);
          assertEquals(single.scoreDocs[0].doc, hits[i].scoreDocs[0].doc);
        }
      }
    }
  }

  public void testFormatsByField() throws IOException {
    Workers workers = Workers.callingThread();
    KnnVectorsFormat images =
        new VamanaVectorsFormat(VamanaParameters.DEFAULT.withGraph(96, 200, 1.2f), workers);
    KnnVectorsFormat titles =
        new VamanaVectorsFormat(VamanaParameters.DEFAULT.withThresholds(500, 10_000), workers);
    Codec codec =
        new Lucene104Codec() {
          @Override
          public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
            return switch (field) {
              case "image" -> images;
              case "title" -> titles;
              default -> super.getKnnVectorsFormatForField(field);
            };
          }
        };
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer =
          new IndexWriter(directory, new IndexWriterConfig().setCodec(codec))) {
        for (int i = 0; i < 600; i++) {
          Document document = new Document();
          document.add(new KnnFloatVectorField("image", new float[] {i, 1}));
          document.add(new KnnFloatVectorField("title", new float[] {i, 1}));
          document.add(new KnnFloatVectorField("other", new float[] {i, 1}));
          writer.addDocument(document);
        }
        writer.forceMerge(1);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        LeafReader leaf = reader.leaves().get(0).reader();
        assertFalse(SegmentViews.of(leaf, "image").hasGraph());
        assertTrue(SegmentViews.of(leaf, "title").hasGraph());
        assertNull(SegmentViews.of(leaf, "other"));
        IndexSearcher searcher = new IndexSearcher(reader);
        float[] vector = {7.1f, 1};
        Query query =
            new KnnFloatVectorQuery(
                "title", vector, 10, null, new VamanaSearchStrategy(WalkParameters.exact(100)));
        TopDocs best = searcher.search(query, 10);
        assertEquals(7, best.scoreDocs[0].doc);
      }
    }
  }

  public void testBatchOfSeveralFilters() throws IOException {
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig())) {
        for (int i = 0; i < 100; i++) {
          Document document = new Document();
          document.add(new KnnFloatVectorField("embedding", new float[] {i, 1}));
          document.add(new StringField("language", i % 2 == 0 ? "de" : "fr", Field.Store.NO));
          writer.addDocument(document);
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        List<QueryVector> german = List.of(QueryVector.of(new float[] {7.1f, 1}));
        List<QueryVector> french = List.of(QueryVector.of(new float[] {7.9f, 1}));
        List<TopDocs[]> hits =
            new BatchedKnn(searcher)
                .search(
                    "embedding",
                    List.of(
                        new BatchedKnn.Part(german, new TermQuery(new Term("language", "de"))),
                        new BatchedKnn.Part(french, new TermQuery(new Term("language", "fr")))),
                    WalkParameters.exact(100),
                    10);
        assertEquals(8, hits.get(0)[0].scoreDocs[0].doc);
        assertEquals(7, hits.get(1)[0].scoreDocs[0].doc);
      }
    }
  }

  public void testSharedCodebook() throws IOException {
    int dimension = 8;
    float[][] vectors = new float[300][dimension];
    for (float[] vector : vectors) {
      for (int i = 0; i < dimension; i++) {
        vector[i] = (float) random().nextGaussian();
      }
    }
    Path file = createTempDir().resolve("clip.codebook");

    TrainingSample sample = TrainingSample.of(dimension, vectors);
    Codebook codebook =
        PqTrainer.train(
            sample,
            new SubspaceLayout(dimension, SubspaceLayout.defaultSubspaces(dimension)),
            CodebookId.random(),
            PqTrainer.Options.defaults(42),
            AbortCheck.NEVER);
    SharedCodebook trained =
        SharedCodebook.of(
            "clip",
            1,
            codebook,
            VectorSimilarityFunction.EUCLIDEAN,
            sample,
            vectors.length,
            "photos of May",
            Workers.callingThread(),
            AbortCheck.NEVER);
    Files.write(file, trained.toBytes());

    SharedCodebook shared = SharedCodebook.fromBytes(Files.readAllBytes(file));
    BuildStatistics statistics = new BuildStatistics();
    KnnVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withThresholds(0, 0),
            Workers.callingThread(),
            CodebookProvider.of(Map.of("embedding", "clip"), name -> shared),
            statistics);

    try (Directory directory = newDirectory()) {
      IndexWriterConfig config =
          new IndexWriterConfig().setCodec(TestUtil.alwaysKnnVectorsFormat(format));
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (float[] vector : vectors) {
          Document document = new Document();
          document.add(new KnnFloatVectorField("embedding", vector));
          writer.addDocument(document);
        }
        writer.forceMerge(1);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentView view = SegmentViews.of(reader.leaves().get(0).reader(), "embedding");
        assertEquals("clip", view.codebook().id().name());
      }
    }
    assertTrue(statistics.snapshot().codebooksShared() > 0);
    assertEquals(0, statistics.snapshot().codebooksTrained());
  }
}
