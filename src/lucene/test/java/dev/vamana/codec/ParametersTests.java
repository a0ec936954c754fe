package dev.vamana.codec;

import dev.vamana.graph.BuildParameters;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.VectorUtil;

/** Ranges of parameters and of indexed vectors. */
public class ParametersTests extends LuceneTestCase {

  private static void expectRefused(
      String name, Object value, String range, ThrowingRunnable code) {
    String message = expectThrows(IllegalArgumentException.class, code).getMessage();
    assertTrue(message, message.contains(name));
    assertTrue(message, message.contains("got " + value));
    assertTrue(message, message.contains(range));
  }

  public void testMaxDegree() {
    for (int degree : new int[] {Integer.MIN_VALUE, -1, 0, 3, 129, Integer.MAX_VALUE}) {
      expectRefused(
          "maxDegree",
          degree,
          "between 4 and 128",
          () -> VamanaParameters.DEFAULT.withGraph(degree, 4096, 1.2f));
      expectRefused(
          "maxDegree",
          degree,
          "between 4 and 128",
          () -> new BuildParameters(degree, 4096, 1.2f, 1));
    }
    assertEquals(4, VamanaParameters.DEFAULT.withGraph(4, 4, 1f).maxDegree());
    assertEquals(128, VamanaParameters.DEFAULT.withGraph(128, 4096, 2f).maxDegree());
  }

  /** The threshold follows the cost of a scan: long vectors get a graph sooner. */
  public void testAutomaticGraphThreshold() {
    assertEquals(8_192, VamanaParameters.DEFAULT.graphThreshold(3));
    assertEquals(8_192, VamanaParameters.DEFAULT.graphThreshold(384));
    assertEquals(4_096, VamanaParameters.DEFAULT.graphThreshold(768));
    assertEquals(768, VamanaParameters.DEFAULT.graphThreshold(4_096));
    assertEquals(1_024, VamanaParameters.DEFAULT.valueThreshold(3));
    assertEquals(512, VamanaParameters.DEFAULT.valueThreshold(384));
    assertEquals(256, VamanaParameters.DEFAULT.valueThreshold(4_096));
    for (int given : new int[] {0, 1, 4_096}) {
      assertEquals(given, VamanaParameters.DEFAULT.withThresholds(given, 0).graphThreshold(784));
      assertEquals(given, VamanaParameters.DEFAULT.withThresholds(given, 0).valueThreshold(784));
    }
  }

  public void testSmallestAndLargestDimension() throws IOException {
    VectorSimilarityFunction[] kinds = VectorSimilarityFunction.values();
    for (int dimension : new int[] {1, 4096}) {
      // all of the largest in nightly runs, otherwise one
      int from = TEST_NIGHTLY || dimension == 1 ? 0 : random().nextInt(kinds.length);
      int to = TEST_NIGHTLY || dimension == 1 ? kinds.length : from + 1;
      for (VectorSimilarityFunction similarity : List.of(kinds).subList(from, to)) {
        try (Directory directory = newDirectory()) {
          int docs = 40;
          float[][] vectors = Segments.clustered(random(), docs, dimension);
          try (IndexWriter writer = new IndexWriter(directory, Segments.config(Segments.SMALL))) {
            for (int i = 0; i < docs; i++) {
              if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
                VectorUtil.l2normalize(vectors[i]);
              }
              Document document = Segments.document(i, vectors[i], similarity);
              document.add(
                  new KnnByteVectorField(Segments.BYTES, Segments.bytes(vectors[i]), similarity));
              writer.addDocument(document);
            }
            writer.flush();
            writer.addDocument(Segments.document(docs, vectors[0], similarity));
          }
          TestUtil.checkIndex(directory);
          try (DirectoryReader reader = DirectoryReader.open(directory)) {
            LeafReader leaf = reader.leaves().get(0).reader();
            SegmentField field = Segments.field(leaf, Segments.FLOATS);
            assertEquals(Math.min(4, dimension), field.codebook().layout().count());
            AcceptDocs all = AcceptDocs.fromLiveDocs(null, docs);
            for (WalkParameters walk :
                List.of(WalkParameters.exact(5), WalkParameters.quantized(5, 0))) {
              TopKnnCollector collector =
                  new TopKnnCollector(5, Integer.MAX_VALUE, new VamanaSearchStrategy(walk));
              leaf.searchNearestVectors(Segments.FLOATS, vectors[3], collector, all);
              assertEquals(5, collector.topDocs().scoreDocs.length);
            }
          }
        }
      }
    }
  }

  public void testLargerDimensionIsRefused() throws IOException {
    try (Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, Segments.config(Segments.SMALL))) {
      Document document = new Document();
      document.add(new KnnFloatVectorField(Segments.FLOATS, new float[4097]));
      String message =
          expectThrows(IllegalArgumentException.class, () -> writer.addDocument(document))
              .getMessage();
      assertTrue(message, message.contains("4096"));
      assertTrue(message, message.contains("4097"));
    }
  }

  /** Zero vectors, equal vectors, and lengths near the ends of the range of floats. */
  public void testExtremeVectors() throws IOException {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      for (float scale : new float[] {0f, Float.MIN_VALUE, 1e-20f, 1f, 1e15f}) {
        boolean unitLength = similarity == VectorSimilarityFunction.DOT_PRODUCT && scale != 1f;
        boolean zero = similarity == VectorSimilarityFunction.COSINE && scale <= Float.MIN_VALUE;
        if (unitLength || zero) {
          continue;
        }
        try (Directory directory = newDirectory()) {
          int docs = 150;
          float[][] vectors = Segments.clustered(random(), docs, 6);
          for (int i = 0; i < docs; i++) {
            for (int d = 0; d < 6; d++) {
              vectors[i][d] = i % 5 == 0 ? vectors[0][d] : vectors[i][d] * scale;
            }
            if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
              VectorUtil.l2normalize(vectors[i]);
            } else if (i % 7 == 0) {
              Arrays.fill(vectors[i], similarity == VectorSimilarityFunction.COSINE ? 1f : 0f);
            }
          }
          try (IndexWriter writer = new IndexWriter(directory, Segments.config(Segments.SMALL))) {
            for (int i = 0; i < docs; i++) {
              writer.addDocument(Segments.document(i, vectors[i], similarity));
            }
          }
          try (DirectoryReader reader = DirectoryReader.open(directory)) {
            LeafReader leaf = reader.leaves().get(0).reader();
            TopKnnCollector collector = new TopKnnCollector(5, Integer.MAX_VALUE);
            leaf.searchNearestVectors(
                Segments.FLOATS, vectors[7], collector, AcceptDocs.fromLiveDocs(null, docs));
            assertEquals(5, collector.topDocs().scoreDocs.length);
          }
        }
      }
    }
  }
}
