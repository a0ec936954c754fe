package dev.vamana.cuda;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphChecks;
import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Compares graphs that the device builds with the CPU's. */
public class GraphBuildParityTests extends DeviceTestCase {

  private static final VectorSimilarityFunction EUCLIDEAN = VectorSimilarityFunction.EUCLIDEAN;

  private static GraphTask task(
      KnnVectorValues vectors, VectorSimilarityFunction similarity, BuildParameters parameters)
      throws IOException {
    return GraphChecks.task(vectors, similarity, parameters, null, workers(), AbortCheck.NEVER);
  }

  private static VamanaGraph build(Gpu gpu, GraphTask task) throws IOException {
    VamanaGraph graph = gpu.executor().graphs().build(task);
    assertNotNull("declined", graph);
    GraphChecks.assertWellFormed(graph, task.size());
    return graph;
  }

  // of 300 queries, 3 % are the vectors of one or two clusters: chance then decided one test in
  // fifteen
  private static final int QUERIES = 3_000;

  private static void compare(GraphTask task) throws IOException {
    compare(task, QUERIES);
  }

  private static void compare(GraphTask task, int count) throws IOException {
    int[] queries = random().ints(count, 0, task.size()).toArray();
    VamanaGraph expected = GraphEngine.CPU.build(task);
    try (Gpu gpu = open(Placement.EXACT);
        VamanaGraph actual = build(gpu, task);
        VamanaGraph again = build(gpu, task)) {
      // no race decides an edge; first, since a failed check of recall would hide the race
      GraphChecks.assertSame(actual, again);
      for (int beam : new int[] {16, 40}) {
        GraphChecks.Found cpu = GraphChecks.search(task, expected, queries, beam);
        GraphChecks.Found device = GraphChecks.search(task, actual, queries, beam);
        String both = "beam " + beam + ": " + cpu + " " + device;
        assertTrue(both, device.recall() > cpu.recall() - 0.03);
        // the CPU's second pass starts from neighbours, which leaves shorter rows among clusters
        assertTrue(both, device.distances() < 1.25 * cpu.distances());
      }
    }
  }

  private static void compareSet(String name) throws IOException {
    String root = System.getProperty("vector.data");
    assumeTrue("vector.data is not set", root != null && root.isEmpty() == false);
    Path folder = Path.of(root, name);
    assumeTrue(folder + " is missing", Files.isDirectory(folder));
    VectorSet set = VectorSet.load(folder, null, 40_000).normalized();
    KnnVectorValues vectors = GraphChecks.floats(Arrays.asList(set.base().rows()));
    compare(task(vectors, set.similarity(), new BuildParameters(64, 128, 1.2f, 42)), 300);
  }

  public void testFloats() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 6_000, 1 + random().nextInt(60), 100);
    compare(
        task(
            GraphChecks.floats(vectors),
            random().nextBoolean() ? EUCLIDEAN : VectorSimilarityFunction.COSINE,
            new BuildParameters(32, 64, 1.2f, random().nextLong())));
  }

  public void testBytes() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 6_000, 1 + random().nextInt(60), 100);
    compare(
        task(
            GraphChecks.bytes(vectors),
            random().nextBoolean() ? EUCLIDEAN : VectorSimilarityFunction.COSINE,
            new BuildParameters(24, 64, 1.2f, random().nextLong())));
  }

  public void testInnerProducts() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 6_000, 4 + random().nextInt(60), 100);
    for (int i = 0; i < vectors.size(); i++) {
      float length = i % 100 == 0 ? 0 : (float) Math.exp(random().nextGaussian());
      float[] scaled = vectors.get(i).clone();
      for (int d = 0; d < scaled.length; d++) {
        scaled[d] *= length;
      }
      vectors.set(i, scaled);
    }
    compare(
        task(
            GraphChecks.floats(vectors),
            VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT,
            new BuildParameters(32, 64, 1.2f, random().nextLong())));
  }

  public void testInnerProductsOfBytes() throws IOException {
    compare(
        task(
            GraphChecks.bytes(
                GraphChecks.clustered(random(), 6_000, 4 + random().nextInt(60), 100)),
            VectorSimilarityFunction.DOT_PRODUCT,
            new BuildParameters(24, 64, 1.2f, random().nextLong())));
  }

  public void testEqualVectors() throws IOException {
    assertBuilt(Collections.nCopies(5_000, new float[] {1, 2, 3}), 4, 16);
  }

  public void testLongestRows() throws IOException {
    assertBuilt(GraphChecks.clustered(random(), 4_200, 9, 7), 128, 600);
  }

  public void testLongestVectors() throws IOException {
    assertBuilt(GraphChecks.clustered(random(), 4_100, 4_096, 200), 8, 16);
  }

  /** The device builds the graph, whatever its quality. */
  private static void assertBuilt(List<float[]> vectors, int maxDegree, int beamWidth)
      throws IOException {
    BuildParameters parameters =
        new BuildParameters(maxDegree, beamWidth, 1.2f, random().nextLong());
    try (Gpu gpu = open(Placement.EXACT)) {
      build(gpu, task(GraphChecks.floats(vectors), EUCLIDEAN, parameters)).close();
    }
  }

  public void testSift5k() throws IOException {
    compareSet("sift5k-ngt");
  }

  public void testMnist() throws IOException {
    compareSet("mnist60k-784");
  }

  public void testGlove() throws IOException {
    compareSet("glove100-novels");
  }
}
