package dev.vamana.tools.datasets;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;

public class VectorSetTests extends LuceneTestCase {

  public void testGroundTruthIsThatOfASort() {
    for (Metric metric : Metric.values()) {
      float[][] base = randomRows(400, 7);
      base[200] = base[100].clone();
      float[][] queries = randomRows(20, 7);
      int depth = 1 + random().nextInt(500);
      GroundTruth truth = ExactSearch.groundTruth(metric, base, queries, depth);
      for (int q = 0; q < queries.length; q++) {
        float[] query = queries[q];
        int[] expected =
            IntStream.range(0, base.length)
                .boxed()
                .sorted(
                    Comparator.<Integer>comparingDouble(i -> metric.distance(query, base[i]))
                        .thenComparing(i -> i))
                .limit(depth)
                .mapToInt(i -> i)
                .toArray();
        assertArrayEquals(expected, truth.ordinals()[q]);
        assertEquals((float) metric.distance(query, base[expected[0]]), truth.distances()[q][0], 0);
      }
    }
  }

  public void testLoadTrustsOnlyMatchingGroundTruth() throws IOException {
    float[][] base = randomRows(150, 5);
    float[][] queries = randomRows(6, 5);
    Path folder = writeSet("sift_", base, queries);
    GroundTruth cosine = ExactSearch.groundTruth(Metric.COSINE, base, queries, 20);
    TexMexFile.writeIvecs(folder.resolve("sift_groundtruth.ivecs"), cosine.ordinals());
    assertEquals(
        20, VectorSet.load(folder, Metric.COSINE, Integer.MAX_VALUE).groundTruth().depth());
    String message =
        expectThrows(IllegalArgumentException.class, () -> VectorSet.load(folder)).getMessage();
    assertTrue(message, message.contains("groundtruth.ivecs") && message.contains("metric l2"));

    Files.writeString(folder.resolve("meta.json"), "{\"name\": \"mine\", \"metric\": \"cosine\"}");
    VectorSet own = VectorSet.load(folder);
    assertEquals("mine", own.name());
    assertEquals(Metric.COSINE, own.metric());
    assertEquals(20, own.groundTruth().depth());
    VectorSet other = VectorSet.load(folder, Metric.IP, Integer.MAX_VALUE);
    assertEquals(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT, other.similarity());
    assertEquals(VectorSet.GROUND_TRUTH_DEPTH, other.groundTruth().depth());
    GroundTruth l2 = ExactSearch.groundTruth(Metric.L2, base, queries, 30);
    TexMexFile.writeIvecs(folder.resolve("groundtruth_l2.ivecs"), l2.ordinals());
    assertEquals(30, VectorSet.load(folder, Metric.L2, Integer.MAX_VALUE).groundTruth().depth());
  }

  public void testNormalizedKeepsTheOrder() {
    VectorTable base = table(randomRows(300, 9));
    VectorSet set = VectorSet.of("c", Metric.COSINE, base, table(randomRows(10, 9)));
    VectorSet unit = set.normalized();
    assertEquals(VectorSimilarityFunction.DOT_PRODUCT, unit.similarity());
    assertSame(unit, unit.normalized());
    for (float[] row : unit.base().rows()) {
      assertEquals(-1, Metric.IP.distance(row, row), 1e-6);
    }
    assertEquals(1, new Recall(unit, 10).of(set.groundTruth().ordinals()), 0);
    VectorSet l2 = VectorSet.of("l", Metric.L2, base, base);
    assertSame(l2, l2.normalized());
  }

  public void testBadFolders() throws IOException {
    Path folder = createTempDir();
    assertRejected(folder.resolve("none"), "no such folder");
    assertRejected(folder, "no base file", "base.fvecs, base.bvecs, base.npy");
    TexMexFile.writeFvecs(folder.resolve("a_base.fvecs"), randomRows(3, 4));
    assertRejected(folder, "no query file");
    TexMexFile.writeFvecs(folder.resolve("a_query.fvecs"), randomRows(3, 5));
    assertRejected(folder, "dimension 4", "have 5");
    TexMexFile.writeFvecs(folder.resolve("query.fvecs"), randomRows(3, 4));
    assertEquals(3, VectorSet.load(folder).queries().size());
    TexMexFile.writeIvecs(folder.resolve("groundtruth.ivecs"), new int[][] {{0}, {3}, {1}});
    assertRejected(folder, "row 1", "base row 3", "[0, 2]");
    TexMexFile.writeIvecs(folder.resolve("groundtruth.ivecs"), new int[2][1]);
    assertRejected(folder, "2 rows for 3 queries");
    TexMexFile.writeFvecs(folder.resolve("b_base.fvecs"), randomRows(3, 4));
    assertRejected(folder, "several files for base");
    Files.writeString(folder.resolve("meta.json"), "{\"metric\": \"l1\"}");
    assertRejected(folder, "metric is 'l1'");
    for (String malformed : new String[] {"{\"metric\": ", "[]", ""}) {
      Files.writeString(folder.resolve("meta.json"), malformed);
      assertRejected(folder, "meta.json: not a JSON object");
    }
  }

  public void testTiesNeverCostRecall() {
    float[][] base = new float[40][1];
    for (int i = 0; i < base.length; i++) {
      base[i][0] = i < 5 ? 0 : i < 30 ? 1 : 2;
    }
    VectorSet set = VectorSet.of("ties", Metric.L2, table(base), table(new float[][] {{0}}));
    Recall recall = new Recall(set, 10);
    assertEquals(10, recall.hits(0, IntStream.range(0, 10).toArray()));
    assertEquals(10, recall.hits(0, new int[] {29, 28, 27, 26, 25, 24, 23, 22, 21, 20}));
    assertEquals(9, recall.hits(0, new int[] {29, 28, 27, 26, 25, 24, 23, 22, 21, 35, 20}));
    assertEquals(1, recall.hits(0, new int[] {3, 3, 3}));
    assertEquals(0, recall.hits(0, new int[0]));
    assertEquals(0.2, recall.of(new int[][] {{0, 1}}), 0);
    assertTrue(
        expectThrows(IllegalArgumentException.class, () -> new Recall(set, 41))
            .getMessage()
            .contains("[1, 40]"));
  }

  private static void assertRejected(Path folder, String... parts) {
    String message =
        expectThrows(IllegalArgumentException.class, () -> VectorSet.load(folder)).getMessage();
    for (String part : parts) {
      assertTrue(message, message.contains(part));
    }
  }

  private static Path writeSet(String prefix, float[][] base, float[][] queries)
      throws IOException {
    Path folder = createTempDir();
    TexMexFile.writeFvecs(folder.resolve(prefix + "base.fvecs"), base);
    TexMexFile.writeFvecs(folder.resolve(prefix + "query.fvecs"), queries);
    return folder;
  }

  private static VectorTable table(float[][] rows) {
    return new VectorTable(ElementType.FLOAT32, rows[0].length, rows);
  }

  private static float[][] randomRows(int count, int dimension) {
    float[][] rows = new float[count][dimension];
    for (float[] row : rows) {
      for (int i = 0; i < dimension; i++) {
        row[i] = (float) random().nextGaussian();
      }
    }
    return rows;
  }
}
