package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.PrintedRequests.Request;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * The requests that the pages for operators print work as printed, one after the other, and where a
 * page shows an answer the node's has those members.
 */
public class OperatorPagesIT {
  private static final int DIMS = 128;

  /** An index whose replica has no node, for the request that explains why. */
  private static final String UNASSIGNED = "unassigned";

  /** Requests that a page has at least, so that a change of its form does not hide them. */
  private static final Map<String, Integer> AT_LEAST =
      Map.ofEntries(
          Map.entry("README.md", 5),
          Map.entry("install.md", 3),
          Map.entry("upgrades.md", 1),
          Map.entry("existing-data.md", 12),
          Map.entry("index-settings.md", 2),
          Map.entry("node-settings.md", 4),
          Map.entry("memory.md", 3),
          Map.entry("monitoring.md", 15),
          Map.entry("troubleshooting.md", 15),
          Map.entry("tuning.md", 2),
          Map.entry("examples.md", 8),
          Map.entry("statistics.md", 4),
          Map.entry("openmetrics.md", 4),
          Map.entry("segments.md", 4),
          Map.entry("codebooks.md", 12),
          Map.entry("warmup.md", 3),
          Map.entry("batched-search.md", 1),
          Map.entry("batched-search-reference.md", 3),
          Map.entry("neighbors.md", 3));

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static NodeClient client;

  private static void createIndices() throws IOException {
    client = CLUSTER.first().client();
    for (String index : List.of("photos", "pictures")) {
      TestIndex.create(
              client,
              index,
              TestIndex.VAMANA,
              TestIndex.denseVector("embedding", "float", DIMS, "l2_norm", "hnsw"))
          .index(0, 300, OperatorPagesIT::document);
    }
    client.put("/" + UNASSIGNED, "{\"settings\": {\"index.number_of_replicas\": 1}}");
  }

  private static void deleteWhatPagesMade() throws IOException {
    for (String path :
        List.of(
            "/photos",
            "/photos-neighbors?ignore_unavailable=true",
            "/pictures",
            "/" + UNASSIGNED)) {
      client.delete(path);
    }
    client.delete("/_ingest/pipeline/*");
    CodebookAnswers.deleteAll(client);
  }

  private static String document(int doc) {
    return "{\"public\": true, \"embedding\": " + TestVectors.random(1, DIMS, doc).json(0) + "}";
  }

  /** All pages for operators, and the one of the others that prints requests. */
  @Test
  public void testRequests() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(Path.of("docs/internals/query-plans.md")));
    try (Stream<Path> operators = Files.list(Path.of("docs/operators"))) {
      operators.filter(Files::isRegularFile).forEach(pages::add);
    }
    List<String> failures = new ArrayList<>();
    for (Path page : pages) {
      createIndices();
      try {
        assertWork(page, AT_LEAST.getOrDefault(page.getFileName().toString(), 0));
      } catch (AssertionError e) {
        failures.add(e.getMessage());
      } finally {
        deleteWhatPagesMade();
      }
    }
    assertEquals(List.of(), failures);
  }

  private static void assertWork(Path page, int atLeast) throws IOException {
    List<Request> requests = PrintedRequests.of(page);
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
      if (isOfAbsentModule(request)) {
        assertTrue(answered, response.body().contains("no handler found"));
        assertFalse(request.toString(), json(request.body()).isEmpty());
        continue;
      }
      assertEquals(answered, status(request), response.status());
      assertFalse(answered, response.body().isBlank());
      if (request.answer() != null) {
        assertHasMembers(answered, json(request.answer()), json(response.body()));
      }
      if (request.toString().equals("PUT /photos") && page.endsWith("codebooks.md")) {
        new TestIndex(client, "photos").index(0, 300, OperatorPagesIT::document);
      }
    }
  }

  /** Index lifecycle management and security belong to x-pack, which the assembled node lacks. */
  private static boolean isOfAbsentModule(Request request) {
    return request.path().startsWith("/_ilm/") || request.path().startsWith("/_security/");
  }

  /** The page says that deleting a codebook is refused while an index names it. */
  private static int status(Request request) {
    return request.method().equals("DELETE") && request.path().startsWith("/_vamana/codebooks/")
        ? 409
        : 200;
  }

  /** Fills in three dots in the page's body, and replaces a body that the page only describes. */
  private static String body(Request request) throws IOException {
    String body = request.body();
    if (request.path().endsWith("/_vamana/search")) {
      return "{\"field\": \"embedding\", \"query_vectors\": ["
          + TestVectors.random(1, DIMS, 3).json(0)
          + "]}";
    }
    if (request.path().endsWith("/_vamana/neighbors")) {
      return "{\"field\": \"embedding\", \"dest\": {\"index\": \"photos-neighbors\"}}";
    }
    if (body == null || body.contains("\"...\"") == false) {
      return body;
    }
    if (body.contains("\"data\"")) {
      String data = (String) CodebookAnswers.only(client, "photos?data=true").get("data");
      return body.replace("...", data);
    }
    String subspace = Collections.nCopies(256, "[1, 2, 3, 4]").toString();
    return body.replace("\"...\"", Collections.nCopies(32, subspace).toString());
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
