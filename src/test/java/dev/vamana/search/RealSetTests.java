package dev.vamana.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.util.VectorUtil;

/**
 * Tests recall on real vectors; skipped unless the system property {@code vector.data} names a
 * folder with the unpacked sets.
 */
public class RealSetTests extends SearchTestCase {

  private static final int QUERIES = 40;
  private static final int K = 10;

  private record Loaded(TestVectors base, List<QueryVector> queries) {}

  /** The first vectors of a set, as floats or as signed bytes. */
  private static Loaded load(
      String name, int limit, VectorSimilarityFunction similarity, boolean asBytes)
      throws IOException {
    String root = System.getProperty("vector.data");
    assumeTrue("vector.data is not set", root != null && root.isEmpty() == false);
    Path folder = Path.of(root, name);
    assumeTrue(folder + " is missing", Files.isDirectory(folder));
    List<QueryVector> base = convert(read(folder, "base", limit), similarity, asBytes);
    return new Loaded(
        new TestVectors(similarity, base),
        convert(read(folder, "query", QUERIES), similarity, asBytes));
  }

  private static float[][] read(Path folder, String stem, int limit) throws IOException {
    Path floats = folder.resolve(stem + ".fvecs");
    return VectorTable.read(Files.exists(floats) ? floats : folder.resolve(stem + ".bvecs"), limit)
        .rows();
  }

  private static List<QueryVector> convert(
      float[][] rows, VectorSimilarityFunction similarity, boolean asBytes) {
    return Arrays.stream(rows)
        .map(
            row -> {
              if (asBytes) {
                byte[] bytes = new byte[row.length];
                for (int d = 0; d < bytes.length; d++) {
                  // 0 to 255 in the files; moving all by 128 changes no Euclidean distance
                  bytes[d] = (byte) (row[d] - 128);
                }
                return QueryVector.of(bytes);
              }
              if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
                VectorUtil.l2normalize(row);
              }
              return QueryVector.of(row);
            })
        .toList();
  }

  private static void assertRecall(Loaded set, double exactFloor, double quantizedFloor)
      throws IOException {
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withGraph(32, 64, 1.2f).withThresholds(0, 0),
            Workers.callingThread());
    int size = set.base().size();
    try (TestIndex index = new TestIndex(set.base(), format, 1)) {
      assertFalse(SearchPlan.scan(index.view(), 100, size));
      KnnSearchStrategy exact = new VamanaSearchStrategy(WalkParameters.exact(100));
      assertRecall(index, set.queries(), exact, size, exactFloor);
      KnnSearchStrategy quantized = new VamanaSearchStrategy(WalkParameters.quantized(100, 100));
      assertRecall(index, set.queries(), quantized, size, quantizedFloor);
      for (double share : new double[] {0.5, 0.05, 0.005, 0.0001}) {
        int limit = (int) Math.ceil(size * share);
        double floor = share < 0.4 ? 1 : exactFloor - 0.15;
        assertRecall(index, set.queries(), KnnSearchStrategy.Hnsw.DEFAULT, limit, floor);
      }
    }
  }

  private static void assertRecall(
      TestIndex index,
      List<QueryVector> queries,
      KnnSearchStrategy strategy,
      int limit,
      double floor)
      throws IOException {
    boolean all = limit == index.vectors.size();
    double recall = 0;
    long visited = 0;
    for (QueryVector vector : queries) {
      Query filter = all ? null : index.filter(limit);
      CountedQuery query = new CountedQuery(FIELD, vector, K, filter, strategy);
      TopDocs hits = index.searcher.search(query.query(), K);
      int[] ids = ids(index.searcher, hits);
      assertEquals(Math.min(K, limit), ids.length);
      assertWellFormed(index.vectors, vector, hits, ids, index.accepted(limit));
      recall += index.vectors.recall(vector, K, index.accepted(limit), ids) / queries.size();
      visited += query.visited();
    }
    String what = strategy + ", " + limit + " accepted";
    assertTrue("recall " + recall + " < " + floor + ", " + what, recall >= floor - 1e-9);
    assertTrue("visited " + visited + ", " + what, visited < 0.8 * limit * queries.size() + 1e4);
  }

  public void testSift() throws IOException {
    boolean asBytes = random().nextBoolean();
    assertRecall(load("sift5k-ngt", 4_900, VectorSimilarityFunction.EUCLIDEAN, asBytes), 0.97, 0.9);
  }

  public void testMnist() throws IOException {
    boolean asBytes = random().nextBoolean();
    assertRecall(
        load("mnist60k-784", 4_000, VectorSimilarityFunction.EUCLIDEAN, asBytes), 0.97, 0.9);
  }

  public void testGloveByCosine() throws IOException {
    VectorSimilarityFunction similarity =
        random().nextBoolean()
            ? VectorSimilarityFunction.COSINE
            : VectorSimilarityFunction.DOT_PRODUCT;
    assertRecall(load("glove100-novels", 8_000, similarity, false), 0.9, 0.8);
  }

  public void testGloveByInnerProduct() throws IOException {
    // norms differ by a factor of 30, so the best are not the nearest
    assertRecall(
        load("glove100-novels", 8_000, VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT, false),
        0.97,
        0.9);
  }
}
