package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.regex.Pattern;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;

/** Sends good and bad requests to each endpoint, and compares the status and parts of the body. */
public class EndpointsIT {

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private NodeClient client;

  @Before
  public void createIndices() throws IOException {
    client = CLUSTER.first().client();
    if (client.exists("/vectors-1")) {
      return;
    }
    client.put(
        "/vectors-1",
        """
        {"settings": {"index.vamana.enabled": true, "index.vamana.graph_threshold": 0,
            "index.vamana.pq.threshold": 0, "index.vamana.pq.subspaces": 2,
            "index.number_of_shards": 1, "index.number_of_replicas": 0,
            "index.refresh_interval": "-1", "index.max_result_window": 20},
         "aliases": {"vectors": {}},
         "mappings": {"properties": {
            "a": {"type": "dense_vector", "dims": 4, "similarity": "l2_norm",
                "index_options": {"type": "hnsw"}},
            "b": {"type": "dense_vector", "dims": 3, "similarity": "max_inner_product",
                "index_options": {"type": "flat"}},
            "c": {"type": "alias", "path": "a"}, "year": {"type": "integer"}}}}
        """);
    for (String name : new String[] {"plain-1", "small-1"}) {
      client.put(
          "/" + name,
          Json.of(
              """
              {"settings": {%s"index.number_of_shards": 1,
                  "index.number_of_replicas": 0, "index.refresh_interval": "-1"},
               "mappings": {"properties": {
                  "a": {"type": "dense_vector", "dims": 4, "similarity": "l2_norm",
                      "index_options": {"type": "hnsw"}},
                  "c": {"type": "alias", "path": "a"}}}}
              """,
              name.equals("small-1") ? "\"index.vamana.enabled\": true, " : ""));
    }
    client.bulk(
        "/_bulk?refresh=true",
        """
        {"index": {"_index": "vectors-1", "_id": "x"}}
        {"a": [1, 2, 3, 4], "b": [1, 2, 3], "year": 2019}
        {"index": {"_index": "vectors-1", "_id": "y"}}
        {"a": [4, 3, 2, 1]}
        {"index": {"_index": "plain-1", "_id": "x"}}
        {"a": [1, 2, 3, 4]}
        {"index": {"_index": "small-1", "_id": "x"}}
        {"a": [1, 2, 3, 4]}
        {"index": {"_index": "small-1", "_id": "y"}}
        {"a": [4, 3, 2, 1]}
        """);
  }

  /** Asserts that the body has each of the patterns, in which blanks stand for white space. */
  private String assertAnswer(int status, String request, String body, String... patterns)
      throws IOException {
    String[] words = request.split(" ");
    NodeClient.Response answer = client.send(words[0], words[1], body, "application/json");
    assertEquals(request + ": " + answer.body(), status, answer.status());
    for (String pattern : patterns) {
      boolean found =
          Pattern.compile(pattern.replaceAll(" +", "\\\\s+")).matcher(answer.body()).find();
      assertTrue(request + " has no " + pattern + ": " + answer.body(), found);
    }
    return answer.body();
  }

  @Test
  public void testRowsOfSegments() throws IOException {
    assertAnswer(200, "GET /_cat/vamana?help", null, "index ", "placement ", "codebook\\.version ");
    assertAnswer(200, "GET /_cat", null, "/_cat/vamana\n", "/_cat/vamana/\\{index}\n");
    String row = "\"index\":\"vectors-1\",\"shard\":\"0\",\"prirep\":\"p\",\"node\":\"[^\"]+\"";
    assertAnswer(
        200,
        "GET /_cat/vamana/vectors-1?format=json&bytes=b",
        null,
        "^\\[\\{" + row + ",\"segment\":\"_0\",\"field\":\"a\"",
        "\"field\":\"a\",\"vectors\":\"2\",\"dims\":\"4\",\"similarity\":\"l2_norm\"",
        "\"state\":\"cpu\"",
        "\"vectors\\.disk\":\"32\"",
        "\"codes\\.disk\":\"4\"",
        "\"device\":\"0\"",
        "\"field\":\"b\",\"vectors\":\"1\",\"dims\":\"3\",\"similarity\":\"max_inner_product\"",
        "\"state\":\"stock\"",
        "\"vectors\\.disk\":\"12\"");
    assertAnswer(
        200,
        "GET /_cat/vamana/vectors-1?v&h=f,d,st,sim&s=f:desc",
        null,
        "^f d st sim b 3 stock max_inner_product a 4 cpu l2_norm $");
    for (String indices : new String[] {"vectors", "vec*,plain-*"}) {
      String path = "GET /_cat/vamana/" + indices + "?h=index,field";
      assertAnswer(200, path, null, "^vectors-1 a vectors-1 b $");
    }
    assertEquals("[]", assertAnswer(200, "GET /_cat/vamana/plain-1?format=json", null));
    assertAnswer(200, "GET /_cat/vamana/small-1?h=state,placement", null, "^no_graph cpu $");
    assertAnswer(404, "GET /_cat/vamana/missing", null, "index_not_found_exception");
    String some = "GET /_cat/vamana/missing,vectors-1?ignore_unavailable=true&h=field";
    assertAnswer(200, some, null, "^a b $");
  }

  @Test
  public void testSumsOfFields() throws IOException {
    assertAnswer(
        200,
        "GET /vectors-1,plain-1/_vamana/stats",
        null,
        "\"_shards\":\\{\"total\":2,\"successful\":2,\"failed\":0",
        "\"indices\":\\{\"vectors-1\":\\{\"fields\":\\{\"a\":\\{",
        "\"vectors_in_bytes\":32",
        "\"graph_in_bytes\":[1-9]",
        "\"codes_in_bytes\":4",
        "\"recall\":\\[\\]",
        "\"segments\":\\{\"stock\":1}");
    assertAnswer(200, "GET /vectors-1/_vamana/stats?human", null, "\"vectors\":\"32b\"");
    assertAnswer(404, "GET /missing/_vamana/stats", null, "index_not_found_exception");
    // Elasticsearch's own total has the graph and the codes, too: 44 bytes are raw vectors
    assertAnswer(
        200,
        "GET /vectors-1/_stats/dense_vector",
        null,
        "\"total_size_bytes\":(?!44\\b)[0-9]{2,}",
        "\"total_vec_size_bytes\":44");
  }

  @Test
  public void testNodes() throws IOException {
    assertAnswer(200, "GET /_vamana/nodes/_local/stats", null, "\"_nodes\":\\{\"total\":1");
    assertAnswer(
        404,
        "GET /_vamana/nodes/no_such_node/stats",
        null,
        "resource_not_found_exception",
        "no_such_node");
    assertAnswer(
        200,
        "GET /_vamana/nodes/stats?filter_path=nodes.*.state.state",
        null,
        "^\\{\"nodes\":\\{\"[^\"]+\":\\{\"state\":\\{\"state\":\"[a-z]+\"}}}}$");
    assertAnswer(400, "GET /_vamana/nodes/stats?timeout=soon", null, "timeout.*\\[soon\\]");
    String known = "\\[_all, build, devices, executor, health, memory, recall, residency, state,";
    assertAnswer(
        400, "GET /_vamana/nodes/stats/state,gpus", null, "\\[gpus\\]; known are " + known);
    assertAnswer(
        200,
        "GET /_vamana/nodes/_local/stats/health",
        null,
        "\"timestamp\":[0-9]+,(\"[a-z_]+\":\"[^\"]*\",)*\"health\":\\[[^]]*\\]}}}$");
  }

  @Test
  public void testWhatIsInTheWayOfARemoval() throws IOException {
    assertAnswer(
        200,
        "GET /_vamana/removal",
        null,
        "\"removable\":false",
        "\"kind\":\"segments\",\"name\":\"vectors-1\"",
        "field \\[a\\], segments: 1");
  }

  @Test
  public void testBatches() throws IOException {
    String body = "{\"field\": \"%s\", \"query_vectors\": [%s], \"k\": %d}";
    String search = "POST /vectors-1/_vamana/search";
    String vector = "[1, 2, 3, 4]";
    assertAnswer(200, search, Json.of(body, "c", vector, 1), "\"_id\":\"x\"");
    assertAnswer(
        200,
        "POST /vectors-1,plain-1/_vamana/search?format=columns",
        Json.of(body, "b", "[1, 2, 3]", 1),
        "\"ids\":\\[\\[\"x\"\\]\\]");
    assertAnswer(
        404,
        "POST /missing/_vamana/search",
        Json.of(body, "a", vector, 1),
        "index_not_found_exception");
    assertAnswer(
        400,
        search,
        Json.of(body, "aa", vector, 1),
        "\\[field\\] is \\[aa\\], but no mapping has this field: searched \\[vectors-1\\]");
    assertAnswer(400, search, Json.of(body, "year", vector, 1), "\\[dense_vector\\].*\\[year\\]");
    assertAnswer(400, search, Json.of(body, "a", "[0, 1]", 1), "\\[a\\].*(2.*4|4.*2)");
    assertAnswer(
        400,
        search,
        Json.of(body, "a", vector, 21),
        "\\[k\\] is \\[21\\].*\\[20\\].*\\[index.max_result_window\\]");
    assertAnswer(
        400, search + "?timeout=soon", Json.of(body, "a", vector, 1), "timeout.*\\[soon\\]");
  }

  @Test
  public void testNeighborsOfAFieldByItsAlias() throws IOException {
    String body = "{\"field\": \"c\", \"k\": 1, \"dest\": {\"index\": \"near\"}}";
    String run = "POST /small-1/_vamana/neighbors?refresh=true";
    assertAnswer(200, run, body, "\"total\":2", "\"created\":2");
    assertAnswer(200, "GET /near/_doc/x", null, "\"ids\":\\[\"y\"\\]");
  }

  @Test
  public void testWarmupAndClearCache() throws IOException {
    for (String action : new String[] {"warmup", "clear_cache"}) {
      assertAnswer(404, "POST /missing/_vamana/" + action, null, "index_not_found_exception");
      assertAnswer(
          200,
          "POST /missing,vectors-1/_vamana/" + action + "?ignore_unavailable=true",
          null,
          "\"_shards\":\\{\"total\":1,",
          "\"primary\":true");
      assertAnswer(200, "POST /_vamana/" + action, null, "\"vectors-1\"", "\"small-1\"");
    }
    assertAnswer(200, "POST /none*/_vamana/warmup", null, "\"total\":0");
    assertAnswer(404, "POST /none*/_vamana/warmup?allow_no_indices=false", null);
    String warmup = "POST /vectors-1/_vamana/warmup";
    assertAnswer(400, warmup + "?timeout=2h", null, "\\[timeout\\].*\\[1h\\].*\\[2h\\]");
    assertAnswer(400, warmup + "?timeout=-3s", null);
    assertAnswer(400, warmup + "?wait_for_completion=perhaps", null, "perhaps");
    assertAnswer(200, warmup + "?wait_for_completion=false", null, "\"timed_out\":false");
    assertAnswer(200, "POST /vectors-1/_vamana/clear_cache", null, "\"freed_in_bytes\":0");
  }

  @Test
  public void testNamesOfCodebooks() throws IOException {
    assertAnswer(404, "GET /_vamana/codebooks/none", null, "there is no codebook \\[none\\]");
    assertAnswer(200, "GET /_vamana/codebooks/no*", null, "\"codebooks\":\\[\\]");
    String single = "\\[data\\] requires the name of a single codebook";
    assertAnswer(400, "GET /_vamana/codebooks?data=true", null, single);
    assertAnswer(404, "DELETE /_vamana/codebooks/none", null);
    String missing = "1: \\[index\\] is missing;2: \\[field\\] is missing;";
    assertAnswer(400, "POST /_vamana/codebooks/new/_train", "{}", missing);
    String other = "\\[year\\] of index \\[vectors-1\\] must be of type \\[dense_vector\\]";
    String body = "{\"index\": \"vectors-1\", \"field\": \"year\"}";
    assertAnswer(400, "POST /_vamana/codebooks/new/_train", body, other);
  }
}
