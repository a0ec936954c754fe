package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.tools.gpu.node.Driver;
import dev.vamana.tools.gpu.node.DriverTrial;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.ClassRule;
import org.junit.Test;

/** The GPU suite's trial that does as drivers of public benchmarks do. */
public class DriverTrialIT {
  private static final int DIMS = 16;
  private static final int COUNT = 1100;
  private static final int QUERIES = 8;

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  /** Findings of a trial. */
  private static final class Found implements DriverTrial.Findings {
    final List<String> spent = new ArrayList<>();
    final List<DriverTrial.Search> searches = new ArrayList<>();

    @Override
    public void spent(String driver, String method, String what, double seconds) {
      assertTrue(what + " took " + seconds, seconds > 0);
      spent.add(driver + " " + method + " " + what);
    }

    @Override
    public void searched(String driver, String method, DriverTrial.Search search) {
      searches.add(search);
    }
  }

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
        Found found = new Found();
        DriverTrial trial = new DriverTrial(new DriverTrial.Plan(set, 2, 0.01), found);
        trial.run(CLUSTER.first(), driver, method);
        String start = driver.name() + " " + method + " ";
        assertEquals(
            driver.merges() ? List.of(start + "load", start + "optimize") : List.of(start + "load"),
            found.spent);
        String index = driver.name() + (method.equals(DriverTrial.STOCK) ? "-stock" : "-vamana");
        new TestIndex(CLUSTER.first().client(), index)
            .assertSegmentsInOurFormat(method.equals(DriverTrial.CPU));
        assertEquals(
            driver.clients().size() * driver.numCandidates().size(), found.searches.size());
        for (DriverTrial.Search search : found.searches) {
          assertTrue(search.toString(), search.recall() >= 0.9);
          assertTrue(search.toString(), search.times().micros().length >= search.clients());
          assertTrue(search.toString(), search.times().perSecond() > 0);
        }
        // an index that is there is searched again
        trial.run(CLUSTER.first(), driver, method);
        assertEquals(driver.merges() ? 2 : 1, found.spent.size());
      }
    }
  }
}
