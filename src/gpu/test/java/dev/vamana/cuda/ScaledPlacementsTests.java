package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.VectorUtil;

/** Tests that the scale of the vectors does not change the recall, in every placement. */
public class ScaledPlacementsTests extends GpuTestCase {
  private static final int SIZE = 1_500;
  private static final int DIMS = 16;
  private static final int QUERIES = 30;
  private static final int K = 10;

  private static float[][] vectors(long seed, int count, float scale) {
    Random random = new Random(seed);
    float[][] vectors = new float[count][DIMS];
    for (float[] vector : vectors) {
      for (int d = 0; d < DIMS; d++) {
        vector[d] = scale * (float) random.nextGaussian();
      }
    }
    return vectors;
  }

  public void testEveryPlacement() throws IOException {
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withGraph(24, 48, 1.2f).withSubspaces(8).withThresholds(0, 0),
            Workers.callingThread());
    double[] atOne = new double[Placement.values().length];
    for (float scale : new float[] {1, 1e-4f, 1e-6f, 1e4f}) {
      float[][] base = vectors(1, SIZE, scale);
      try (Directory directory = new MMapDirectory(createTempDir())) {
        try (IndexWriter writer =
            new IndexWriter(
                directory,
                new IndexWriterConfig().setCodec(TestUtil.alwaysKnnVectorsFormat(format)))) {
          for (float[] vector : base) {
            Document document = new Document();
            document.add(
                new KnnFloatVectorField(FIELD, vector, VectorSimilarityFunction.EUCLIDEAN));
            writer.addDocument(document);
          }
          writer.forceMerge(1);
        }
        for (Placement placement : Placement.values()) {
          double recall = recall(directory, placement, base, vectors(2, QUERIES, scale));
          int p = placement.ordinal();
          atOne[p] = scale == 1 ? recall : atOne[p];
          String what = placement + ", scale " + scale + ": " + recall;
          assertTrue(what + ", at 1 " + atOne[p], recall >= atOne[p] - 0.03);
          assertTrue(what, recall >= 0.6);
        }
      }
    }
  }

  private static double recall(
      Directory directory, Placement placement, float[][] base, float[][] queries)
      throws IOException {
    SimulatedDriver driver = driver();
    try (ExecutorRegistry.Installation installed =
            ExecutorRegistry.install(
                () ->
                    GpuExecutor.open(
                        () -> driver,
                        ResidencyOptions.defaults(DEVICE_BYTES).withPlacement(placement),
                        WALKS.withBatches(BATCHES).withWaitForUpload(true),
                        new QuietListener()));
        DirectoryReader reader = DirectoryReader.open(directory)) {
      assertNotNull(installed.executor());
      IndexSearcher searcher = new IndexSearcher(reader);
      int found = 0;
      for (float[] query : queries) {
        int[] exact =
            IntStream.range(0, base.length)
                .boxed()
                .sorted(
                    (a, b) ->
                        Float.compare(
                            VectorUtil.squareDistance(query, base[a]),
                            VectorUtil.squareDistance(query, base[b])))
                .limit(K)
                .mapToInt(Integer::intValue)
                .toArray();
        for (ScoreDoc hit :
            searcher.search(new KnnFloatVectorQuery(FIELD, query, 40), K).scoreDocs) {
          found += Arrays.stream(exact).anyMatch(doc -> doc == hit.doc) ? 1 : 0;
        }
      }
      return found / (double) (K * queries.length);
    }
  }
}
