package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;

/** Effect of the pages' index templates on indices whose makers know nothing of the plugin. */
public class OptInTemplateIT {
  private static final int DIMS = 128;
  private static final TestVectors VECTORS = TestVectors.clustered(60, DIMS, 5, 31);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private NodeClient client;

  @Before
  public void putTemplate() throws IOException {
    client = CLUSTER.first().client();
    ExampleTemplates.put(client, ExampleTemplates.FOR_ALL);
  }

  private TestIndex filled(String index, TestVectors vectors) throws IOException {
    TestIndex filled = new TestIndex(client, index);
    filled.index(0, vectors.count(), doc -> "{\"embedding\": " + vectors.json(doc) + "}");
    return filled;
  }

  private String enabled(String index) throws IOException {
    Map<String, Object> settings = client.get("/" + index + "/_settings?flat_settings=true");
    return (String) NodeClient.at(settings, index, "settings", "index.vamana.enabled");
  }

  private Object mapping(String index, String... path) throws IOException {
    Object mapping = client.get("/" + index + "/_mapping");
    mapping = NodeClient.at(mapping, index, "mappings", "properties", "embedding");
    return NodeClient.at(mapping, (Object[]) path);
  }

  @Test
  public void testThePageShowsTheFile() throws IOException {
    String page = Files.readString(Path.of("docs/operators/examples.md"));
    assertTrue(page.contains("```json\n" + Files.readString(ExampleTemplates.FOR_ALL) + "```"));
  }

  @Test
  public void testAnIndexCanOptOut() throws IOException {
    client.put(
        "/opt-in-not",
        Json.of(
            """
            {"settings": {"index.vamana.enabled": false}, "mappings": {"properties": {%s}}}
            """,
            TestIndex.denseVector("embedding", "float", DIMS, "cosine", "hnsw")));
    filled("opt-in-not", VECTORS).assertSegmentsInOurFormat(false);
  }

  /** Elasticsearch maps arrays of 128 floats and more to vectors, with its own choice of type. */
  @Test
  public void testDynamicMapping() throws IOException {
    TestIndex index = filled("opt-in-dynamic", VECTORS);
    assertEquals("true", enabled("opt-in-dynamic"));
    assertEquals("dense_vector", mapping("opt-in-dynamic", "type"));
    assertEquals("int8_hnsw", mapping("opt-in-dynamic", "index_options", "type"));
    index.assertSegmentsInOurFormat(true);
    float[] query = VECTORS.vector(3);
    Answers.assertBest(
        VECTORS.scores(query, Similarity.COSINE, doc -> true),
        5,
        index.knn("embedding", query, 5, 50));

    filled("opt-in-short", TestVectors.clustered(5, DIMS - 1, 2, 32));
    assertEquals("float", mapping("opt-in-short", "type"));
  }

  @Test
  public void testDynamicMappingByName() throws IOException {
    ExampleTemplates.put(client, ExampleTemplates.FOR_DYNAMIC);
    for (int dims : new int[] {8, DIMS, 400}) {
      TestVectors vectors = TestVectors.clustered(20, dims, 3, dims);
      String name = "opt-in-named-" + dims;
      TestIndex index = filled(name, vectors);
      assertEquals("hnsw", mapping(name, "index_options", "type"));
      index.assertSegmentsInOurFormat(true);
      float[] query = vectors.vector(3);
      Answers.assertBest(
          vectors.scores(query, Similarity.COSINE, doc -> true),
          5,
          index.knn("embedding", query, 5, 20));
    }
    client.delete("/_index_template/vamana-for-dynamic");
  }

  /** The template file for Rally wins over the one that the track makes. */
  @Test
  public void testTheTemplateForRallyWins() throws IOException {
    client.put(
        "/_index_template/opt-in-track",
        """
        {"index_patterns": ["vectors-benchmark-*"], "priority": 500, "data_stream": {},
         "template": {"mappings": {"properties": {"emb": {
           "type": "dense_vector", "dims": 128, "index_options": {"type": "bbq_flat"}}}}}}
        """);
    ExampleTemplates.put(client, ExampleTemplates.FOR_RALLY);
    Map<String, Object> made =
        client.post("/_index_template/_simulate_index/vectors-benchmark-random", null);
    Object template = made.get("template");
    assertEquals("true", NodeClient.at(template, "settings", "index", "vamana", "enabled"));
    assertEquals(
        "hnsw", NodeClient.at(template, "mappings", "properties", "emb", "index_options", "type"));
    assertTrue(made.toString(), made.get("overlapping").toString().contains("opt-in-track"));
    client.delete("/_index_template/opt-in-track,vamana-for-rally");
  }
}
