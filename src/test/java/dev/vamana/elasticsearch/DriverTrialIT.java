package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Sheet;
import dev.vamana.tools.gpu.node.Driver;
import dev.vamana.tools.gpu.node.DriverTrial;
import dev.vamana.tools.node.FileTrees;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.ClassRule;
import org.junit.Test;

/** The GPU suite's trial that does as drivers of public benchmarks do. */
public class DriverTrialIT {
  private static final Path OUT = Path.of("target", "drivers-it");
  private static final int DIMS = 16;
  private static final int COUNT = 1100;
  private static final int QUERIES = 8;

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static VectorSet set() {
    TestVectors vectors = TestVectors.clustered(COUNT + QUERIES, DIMS, 40, 41);
    return VectorSet.of(
        "clustered", Metric.COSINE, rows(vectors, 0, COUNT), rows(vectors, COUNT, QUERIES));
  }

  private static VectorTable rows(TestVectors vectors, int from, int count) {
    float[][] rows =
        IntStream.range(from, from + count).mapToObj(vectors::vector).toArray(float[][]::new);
    return new VectorTable(ElementType.FLOAT32, DIMS, rows);
  }

  @Test
  public void testDrivers() throws IOException {
    VectorSet set = set();
    for (Driver driver : Driver.ALL) {
      for (String method : List.of(DriverTrial.CPU, DriverTrial.STOCK)) {
        Path folder = OUT.resolve(driver.name() + method);
        FileTrees.delete(folder);
        Figures figures = new Figures(folder, "c0ffee", "here");
        DriverTrial trial = new DriverTrial(set, 2, 0.01, figures, said -> {});
        trial.run(CLUSTER.first(), driver, method);
        List<Map<String, String>> builds = Figures.read(folder, Sheet.BUILDS);
        assertEquals(builds.toString(), driver.merges() ? 2 : 1, builds.size());
        String index = driver.name() + (method.equals(DriverTrial.STOCK) ? "-stock" : "-vamana");
        new TestIndex(CLUSTER.first().client(), index)
            .assertSegmentsInOurFormat(method.equals(DriverTrial.CPU));
        List<Map<String, String>> searches = Figures.read(folder, Sheet.GPU);
        assertEquals(driver.clients().size() * driver.numCandidates().size(), searches.size());
        for (Map<String, String> search : searches) {
          assertTrue(search.toString(), Double.parseDouble(search.get("recall")) >= 0.9);
          assertTrue(search.toString(), Double.parseDouble(search.get("qps")) > 0);
        }
        // an index that is there is searched again
        FileTrees.delete(folder);
        trial.run(CLUSTER.first(), driver, method);
        assertEquals(List.of(), Figures.read(folder, Sheet.BUILDS));
      }
    }
  }
}
