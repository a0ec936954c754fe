package dev.vamana.search;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;

/** A set has the recall that it has at any other scale, although Lucene's scores have not. */
public class ScaledVectorsTests extends SearchTestCase {
  private static final int SIZE = 3_000;
  private static final int DIMS = 16;
  private static final int QUERIES = 40;
  private static final int K = 10;
  private static final List<Float> SCALES = List.of(1e-2f, 1e-4f, 1e-6f, 1e-9f, 1e4f);

  /** One, and some of the others. */
  private static List<Float> scales() {
    List<Float> scales = new ArrayList<>(SCALES);
    Collections.shuffle(scales, random());
    scales = new ArrayList<>(TEST_NIGHTLY ? scales : scales.subList(0, 2));
    scales.add(0, 1f);
    return scales;
  }

  /** Vectors around centres, the same for every scale up to rounding. */
  private static float[][] vectors(long seed, int count, float scale) {
    Random centres = new Random(17);
    float[][] centre = new float[30][DIMS];
    for (float[] one : centre) {
      for (int d = 0; d < DIMS; d++) {
        one[d] = (float) centres.nextGaussian();
      }
    }
    Random random = new Random(seed);
    float[][] vectors = new float[count][DIMS];
    for (float[] vector : vectors) {
      float[] around = centre[random.nextInt(centre.length)];
      for (int d = 0; d < DIMS; d++) {
        vector[d] = scale * (around[d] + 0.4f * (float) random.nextGaussian());
      }
    }
    return vectors;
  }

  private static double distance(VectorSimilarityFunction similarity, float[] a, float[] b) {
    double sum = 0;
    for (int d = 0; d < DIMS; d++) {
      double difference = (double) a[d] - b[d];
      sum +=
          similarity == VectorSimilarityFunction.EUCLIDEAN
              ? difference * difference
              : -(double) a[d] * b[d];
    }
    return sum;
  }

  private static int[] exact(VectorSimilarityFunction similarity, float[] query, float[][] base) {
    double[] distances = new double[base.length];
    for (int i = 0; i < base.length; i++) {
      distances[i] = distance(similarity, query, base[i]);
    }
    return IntStream.range(0, base.length)
        .boxed()
        .sorted((a, b) -> Double.compare(distances[a], distances[b]))
        .limit(K)
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** One way to ask a query. */
  private interface Search {
    TopDocs[] hits(IndexSearcher searcher, float[][] queries) throws IOException;
  }

  private static Search single(KnnSearchStrategy strategy) {
    return (searcher, queries) -> {
      TopDocs[] hits = new TopDocs[queries.length];
      for (int i = 0; i < hits.length; i++) {
        hits[i] = searcher.search(new KnnFloatVectorQuery(FIELD, queries[i], K, null, strategy), K);
      }
      return hits;
    };
  }

  private static void assertScaleDoesNotMatter(
      VectorSimilarityFunction similarity, KnnVectorsFormat format, List<Search> searches)
      throws IOException {
    double[] atOne = new double[searches.size()];
    for (float scale : scales()) {
      float[][] base = vectors(1, SIZE, scale);
      float[][] queries = vectors(2, QUERIES, scale);
      try (Directory directory = directory();
          IndexWriter writer = new IndexWriter(directory, config(format))) {
        for (float[] vector : base) {
          Document document = new Document();
          document.add(new KnnFloatVectorField(FIELD, vector, similarity));
          writer.addDocument(document);
        }
        writer.forceMerge(1);
        try (DirectoryReader reader = DirectoryReader.open(writer)) {
          for (int s = 0; s < atOne.length; s++) {
            double recall =
                recall(similarity, base, queries, searches.get(s), new IndexSearcher(reader));
            atOne[s] = scale == 1 ? recall : atOne[s];
            String what = similarity + ", search " + s + ", scale " + scale + ": " + recall;
            assertTrue(what + ", at 1 " + atOne[s], recall >= atOne[s] - 0.03);
            assertTrue(what, recall >= 0.7);
          }
        }
      }
    }
  }

  private static double recall(
      VectorSimilarityFunction similarity,
      float[][] base,
      float[][] queries,
      Search search,
      IndexSearcher searcher)
      throws IOException {
    TopDocs[] hits = search.hits(searcher, queries);
    int found = 0;
    for (int i = 0; i < queries.length; i++) {
      int[] exact = exact(similarity, queries[i], base);
      assertEquals(K, hits[i].scoreDocs.length);
      for (ScoreDoc hit : hits[i].scoreDocs) {
        found += Arrays.stream(exact).anyMatch(doc -> doc == hit.doc) ? 1 : 0;
        float score = similarity.compare(queries[i], base[hit.doc]);
        assertEquals(score, hit.score, 1e-5 * score);
      }
    }
    return found / (double) (K * queries.length);
  }

  private static List<Search> searches() {
    return List.of(
        // as Elasticsearch does: the best of the candidates are the hits
        (searcher, queries) -> {
          TopDocs[] hits = new TopDocs[queries.length];
          for (int i = 0; i < hits.length; i++) {
            hits[i] = searcher.search(new KnnFloatVectorQuery(FIELD, queries[i], 5 * K), K);
          }
          return hits;
        },
        single(KnnSearchStrategy.Hnsw.DEFAULT),
        single(new VamanaSearchStrategy(WalkParameters.exact(60))),
        (searcher, queries) ->
            new BatchedKnn(searcher, new CpuExecutor(Workers.callingThread()))
                .search(FIELD, queries, K, null));
  }

  public void testWalks() throws IOException {
    assertScaleDoesNotMatter(VectorSimilarityFunction.EUCLIDEAN, graphs(), searches());
    assertScaleDoesNotMatter(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT, graphs(), searches());
  }

  public void testQuantizedWalks() throws IOException {
    List<Search> walks =
        List.of(single(new VamanaSearchStrategy(WalkParameters.quantized(100, 60))));
    assertScaleDoesNotMatter(VectorSimilarityFunction.EUCLIDEAN, graphsAndCodes(), walks);
  }
}
