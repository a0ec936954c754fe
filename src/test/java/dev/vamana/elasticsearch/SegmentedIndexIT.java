package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.cells.SegmentedIndex;
import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.ClassRule;
import org.junit.Test;

/** Indices with an exact number of segments, as benchmarks ask them. */
public class SegmentedIndexIT {

  private static final int COUNT = 1_500;
  private static final int DIMS = 8;

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static VectorSet set() {
    float[][] vectors = new float[COUNT][DIMS];
    Random random = new Random(11);
    for (float[] vector : vectors) {
      for (int d = 0; d < DIMS; d++) {
        vector[d] = random.nextFloat();
      }
    }
    VectorTable table = new VectorTable(ElementType.FLOAT32, DIMS, vectors);
    return VectorSet.of("drawn", Metric.L2, table, table);
  }

  private static long shards(NodeClient client, String index) throws IOException {
    return ((Number) NodeClient.at(client.get("/" + index + "/_stats"), "_shards", "total"))
        .longValue();
  }

  private static Object setting(NodeClient client, String index) throws IOException {
    return NodeClient.at(
        client.get("/" + index + "/_settings?flat_settings=true"),
        index,
        "settings",
        "index.vamana.enabled");
  }

  @Test
  public void testByShards() throws IOException {
    NodeClient client = CLUSTER.first().client();
    VectorSet set = set();
    KnnIndex index = new KnnIndex(client, "segmented", "segmented");
    SegmentedIndex segmented = new SegmentedIndex(client, set, index);
    Map<String, String> ours = Map.of("index.vamana.enabled", "true");
    for (Map<String, String> settings : List.of(Map.<String, String>of(), ours)) {
      for (int segments : new int[] {5, 1}) {
        segmented.createByShards("hnsw", settings, segments);
        assertTrue(segmented.isThere(segments));
        assertEquals(1, shards(client, index.name()));
        assertEquals(settings.get("index.vamana.enabled"), setting(client, index.name()));
        assertEquals(404, client.send("GET", "/segmented-shards", null, "text/plain").status());
        for (int doc = 0; doc < COUNT; doc += 100) {
          String query = KnnIndex.query(set.base().rows()[doc], 1, 50);
          NodeClient.Response answer =
              client.send("POST", "/segmented/_search", query, "application/json");
          assertEquals(doc, KnnIndex.ids(answer.body())[0]);
        }
      }
    }
  }
}
