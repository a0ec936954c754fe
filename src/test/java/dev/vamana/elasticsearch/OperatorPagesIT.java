package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.PrintedRequests.Request;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * The requests that the pages for operators print work as printed, one after the other, and where a
 * page shows an answer the node's has those members.
 */
public class OperatorPagesIT {
  private static final int DIMS = 128;
  private static final int CODEBOOK_BYTES = 256 * DIMS * Float.BYTES;

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private NodeClient client;

  @Before
  public void createIndices() throws IOException {
    client = CLUSTER.first().client();
    for (String index : List.of("photos", "pictures")) {
      TestIndex.create(
              client,
              index,
              TestIndex.VAMANA,
              TestIndex.denseVector("embedding", "float", DIMS, "l2_norm", "hnsw"))
          .index(0, 300, OperatorPagesIT::document);
    }
  }

  @After
  public void deleteWhatPagesMade() throws IOException {
    for (String path : List.of("/photos", "/pictures")) {
      client.delete(path);
    }
    client.delete("/_ingest/pipeline/*");
    CodebookAnswers.deleteAll(client);
  }

  private static String document(int doc) {
    return "{\"public\": true, \"embedding\": " + TestVectors.random(1, DIMS, doc).json(0) + "}";
  }

  @Test
  public void testIndexSettings() throws IOException {
    assertWork("index-settings", 15);
  }

  @Test
  public void testCodebooks() throws IOException {
    assertWork("codebooks", 12);
  }

  @Test
  public void testWarmup() throws IOException {
    assertWork("warmup", 3);
  }

  @Test
  public void testNodeSettings() throws IOException {
    assertWork("node-settings", 4);
  }

  @Test
  public void testStatistics() throws IOException {
    assertWork("statistics", 10);
  }

  @Test
  public void testOperations() throws IOException {
    assertWork("operations", 2);
  }

  @Test
  public void testQueryPlans() throws IOException {
    assertWork("query-plans", 2);
  }

  /** Its commands have a test of their own, BatchedSearchPageIT. */
  @Test
  public void testBatchedSearch() throws IOException {
    assertWork("batched-search", 3);
  }

  private void assertWork(String page, int atLeast) throws IOException {
    List<Request> requests = PrintedRequests.of(Path.of("docs/operators", page + ".md"));
    assertTrue(requests.toString(), requests.size() >= atLeast);
    for (Request printed : requests) {
      Request request =
          printed
              .with("index", "photos")
              .with("name", "photos")
              .with("nodeId", "_local")
              .with("metric", "executor,state");
      if (request.toString().equals("PUT /photos")) {
        client.delete("/photos");
      }
      request = request.withBody(body(request));
      NodeClient.Response response =
          client.send(request.method(), request.path(), request.body(), "application/json");
      String answered = page + ": " + request + "\n" + response.body();
      assertEquals(answered, status(request), response.status());
      assertFalse(answered, response.body().isBlank());
      if (request.answer() != null) {
        assertHasMembers(answered, json(request.answer()), json(response.body()));
      }
      if (request.toString().equals("PUT /photos") && page.equals("codebooks")) {
        new TestIndex(client, "photos").index(0, 300, OperatorPagesIT::document);
      }
    }
  }

  /** Deleting a codebook that an index names is what the page says is refused. */
  private static int status(Request request) {
    return request.method().equals("DELETE") ? 409 : 200;
  }

  /** What the page leaves out by three dots is filled in, and so is a body that it describes. */
  private String body(Request request) throws IOException {
    String body = request.body();
    if (request.path().endsWith("/_vamana/search")) {
      return "{\"field\": \"embedding\", \"query_vectors\": ["
          + TestVectors.random(1, DIMS, 3).json(0)
          + "]}";
    }
    if (body == null || body.contains("\"...\"") == false) {
      return body;
    }
    String value;
    if (body.contains("\"data\"")) {
      value = (String) CodebookAnswers.only(client, "photos?data=true").get("data");
    } else {
      value = Base64.getEncoder().encodeToString(new byte[CODEBOOK_BYTES]);
    }
    return body.replace("\"...\"", "\"" + value + "\"");
  }

  private static Map<String, Object> json(String text) {
    return XContentHelper.convertToMap(JsonXContent.jsonXContent, text, true);
  }

  private static void assertHasMembers(String what, Object documented, Object answered) {
    if (documented instanceof Map<?, ?> members) {
      assertTrue(what, answered instanceof Map<?, ?>);
      Map<?, ?> own = (Map<?, ?>) answered;
      assertEquals(what, new TreeMap<>(members).keySet(), new TreeMap<>(own).keySet());
      members.forEach((name, value) -> assertHasMembers(what, value, own.get(name)));
    } else if (documented instanceof List<?> list && list.isEmpty() == false) {
      assertHasMembers(what, list.get(0), ((List<?>) answered).get(0));
    }
  }
}
