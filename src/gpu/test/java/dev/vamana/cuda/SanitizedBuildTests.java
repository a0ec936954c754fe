package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphChecks;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Runs every kernel that builds graphs, on short vectors with small degrees, so that
 * compute-sanitizer takes only seconds.
 */
public class SanitizedBuildTests extends DeviceTestCase {

  // the least for which an H200 has a warp for each node of a batch
  private static final int LARGE = 36_000;

  private static final VectorSimilarityFunction EUCLIDEAN = VectorSimilarityFunction.EUCLIDEAN;

  private static void build(int size, int dimension, VectorSimilarityFunction similarity)
      throws IOException {
    GraphTask task =
        GraphChecks.task(
            GraphChecks.floats(GraphChecks.clustered(random(), size, dimension, 50)),
            similarity,
            new BuildParameters(8, 16, 1.2f, random().nextLong()),
            null,
            workers(),
            AbortCheck.NEVER);
    try (Gpu gpu = open(Placement.EXACT);
        VamanaGraph graph = gpu.executor().graphs().build(task)) {
      assertNotNull("declined", graph);
      GraphChecks.assertWellFormed(graph, size);
    }
  }

  public void testSeveralWarpsForEachNode() throws IOException {
    build(GpuOptions.LEAST_GRAPH, 7, EUCLIDEAN);
  }

  public void testOneWarpForEachNode() throws IOException {
    build(LARGE, 5, EUCLIDEAN);
  }

  public void testInnerProducts() throws IOException {
    build(GpuOptions.LEAST_GRAPH, 7, VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);
    build(LARGE, 5, VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);
  }
}
