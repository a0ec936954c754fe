package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.ClassRule;
import org.junit.Test;

/** One codebook from the documents of two nodes, one of which comes and goes. */
public class CodebookNodesIT {
  private static final int DIMS = 16;
  private static final TestVectors VECTORS = TestVectors.random(1_200, DIMS, 93);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.TWO_NODES;

  private RunningNode first;
  private RunningNode second;

  private static void index(RunningNode node, int from, int to) throws IOException {
    new TestIndex(node.client(), "t").index(from, to, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
  }

  /** Two nodes begin trainings at once: each succeeds, or is refused while another one runs. */
  private void assertOneTrainsAtATime(int version) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Integer>> statuses = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        NodeClient client = (i % 2 == 0 ? first : second).client();
        statuses.add(
            threads.submit(
                () ->
                    client
                        .send(
                            "POST",
                            "/_vamana/codebooks/both/_train",
                            "{\"index\": \"t\", \"field\": \"v\"}",
                            "application/json")
                        .status()));
      }
      int trained = 0;
      for (Future<Integer> status : statuses) {
        assertTrue("status " + status.get(), status.get() == 200 || status.get() == 409);
        trained += status.get() == 200 ? 1 : 0;
      }
      assertTrue("trained " + trained, trained >= 1);
      for (RunningNode node : new RunningNode[] {first, second}) {
        Map<?, ?> after = CodebookAnswers.only(node.client(), "both");
        assertEquals("ready", after.get("state"));
        assertEquals(version + trained, after.get("version"));
      }
    } finally {
      threads.shutdown();
    }
  }

  @Test
  public void testTwoNodes() throws Exception {
    first = CLUSTER.first();
    second = CLUSTER.second();
    first
        .client()
        .put(
            "/_ingest/pipeline/feed",
            """
            {"processors": [{"vamana_train": {"field": "v", "codebook": "both", "dims": 16,
              "similarity": "l2_norm", "sample_size": 400, "min_documents": 1000}}]}
            """);
    TestIndex.create(
            first.client(),
            "t",
            TestIndex.VAMANA
                + ", \"index.default_pipeline\": \"feed\", \"index.number_of_replicas\": 1",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"))
        .awaitHealth("green");
    index(first, 0, 600);
    index(second, 600, 900);
    for (RunningNode node : new RunningNode[] {first, second}) {
      assertEquals("sampling", CodebookAnswers.only(node.client(), "both").get("state"));
      Map<?, ?> sample = CodebookAnswers.sample(node.client(), "both");
      assertEquals(node == first ? 600 : 300, sample.get("documents"));
      assertEquals(node == first ? 400 : 300, sample.get("sampled"));
    }
    index(first, 0, 400);
    Map<?, ?> ready = CodebookAnswers.awaitState(second.client(), "both", "ready");
    assertEquals(1, ready.get("version"));
    assertEquals(400, ready.get("trained_on"));
    assertEquals(1_000, ready.get("documents"));
    assertEquals(ready, CodebookAnswers.only(first.client(), "both"));

    // A node that was away reads what there is: it samples nothing for a codebook that is ready.
    first.client().get("/_cluster/health?timeout=60s&wait_for_status=green");
    second.stop();
    first.client().post("/_vamana/codebooks/both/_train", "{\"index\": \"t\", \"field\": \"v\"}");
    second = CLUSTER.startLast();
    new TestIndex(second.client(), "t").awaitHealth("green");
    Map<?, ?> next = CodebookAnswers.only(second.client(), "both");
    assertEquals(2, next.get("version"));
    assertEquals(900, next.get("trained_on"));
    assertOneTrainsAtATime(2);
    first.client().delete("/_vamana/codebooks/both");
    Map<?, ?> unseen = CodebookAnswers.only(second.client(), "both");
    assertEquals("sampling", unseen.get("state"));
    assertEquals(0, CodebookAnswers.sample(second.client(), "both").get("documents"));
    index(second, 0, 100);
    assertEquals(100, CodebookAnswers.sample(second.client(), "both").get("documents"));
    assertEquals(0, CodebookAnswers.sample(first.client(), "both").get("documents"));
  }

  /** The claim of a node that dies while it trains is void: another one may train. */
  @Test
  public void testNodeThatDiesWhileItTrains() throws Exception {
    first = CLUSTER.first();
    second = CLUSTER.second();
    int dims = 64;
    TestVectors vectors = TestVectors.random(6_000, dims, 94);
    TestIndex index =
        TestIndex.create(
            first.client(),
            "large",
            "\"index.vamana.enabled\": true"
                + ", \"index.vamana.graph_threshold\": 100000"
                + ", \"index.unassigned.node_left.delayed_timeout\": \"0s\""
                + ", \"index.number_of_replicas\": 1",
            TestIndex.denseVector("v", "float", dims, "l2_norm", "hnsw"));
    index.awaitHealth("green");
    index.index(0, vectors.count(), doc -> "{\"v\": " + vectors.json(doc) + "}");
    String path = "/_vamana/codebooks/orphan/_train";
    String body = "{\"index\": \"large\", \"field\": \"v\"}";
    second.client().post(path + "?wait_for_completion=false", body);
    while (first.client().send("GET", "/_vamana/codebooks/orphan", null, null).status() != 200) {
      // the training has not begun yet
      Thread.sleep(1);
    }
    assertEquals("training", CodebookAnswers.only(first.client(), "orphan").get("state"));
    NodeClient.Response refused = first.client().send("POST", path, body, "application/json");
    assertEquals(refused.body(), 409, refused.status());
    second.kill();
    NodeClient.Response taken = null;
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (taken == null || (taken.status() != 200 && System.nanoTime() < end)) {
      taken = first.client().send("POST", path, body, "application/json");
    }
    assertEquals(taken.body(), 200, taken.status());
    Map<?, ?> ready = CodebookAnswers.only(first.client(), "orphan");
    assertEquals("ready", ready.get("state"));
    assertEquals(1, ready.get("version"));
    second = CLUSTER.startLast();
    assertEquals(ready, CodebookAnswers.only(second.client(), "orphan"));
    first.client().delete("/_vamana/codebooks/orphan");
  }
}
