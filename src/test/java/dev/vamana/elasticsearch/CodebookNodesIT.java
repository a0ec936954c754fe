package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.After;
import org.junit.Test;

/** One codebook from the documents of two nodes, one of which comes and goes. */
public class CodebookNodesIT {
  private static final int DIMS = 16;
  private static final TestVectors VECTORS = TestVectors.random(1_200, DIMS, 93);

  private NodeHome firstHome;
  private NodeHome secondHome;
  private RunningNode first;
  private RunningNode second;

  @After
  public void stopNodes() throws IOException {
    for (RunningNode node : new RunningNode[] {second, first}) {
      if (node != null) {
        node.close();
      }
    }
    for (NodeHome home : new NodeHome[] {firstHome, secondHome}) {
      if (home != null) {
        home.delete();
      }
    }
  }

  private NodeOptions joining() {
    return PluginNode.options()
        .withSetting("node.name", "second")
        .withSetting("discovery.seed_hosts", first.transportAddress());
  }

  private static void index(RunningNode node, int from, int to) throws IOException {
    new TestIndex(node.client(), "t").index(from, to, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
  }

  /** Of trainings that two nodes begin at once, those that do not come later are refused. */
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
    firstHome = PluginNode.home("first-codebook");
    secondHome = PluginNode.home("second-codebook");
    NodeOptions options = PluginNode.options().withSetting("node.name", "first");
    first =
        RunningNode.start(firstHome, options.withSetting("cluster.initial_master_nodes", "first"));
    second = RunningNode.start(secondHome, joining());
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
      Map<?, ?> sampling = CodebookAnswers.only(node.client(), "both");
      assertEquals(sampling.toString(), "sampling", sampling.get("state"));
      assertEquals(900, NodeClient.at(sampling, "sampling", "documents"));
      assertEquals(700, NodeClient.at(sampling, "sampling", "sampled"));
    }
    index(second, 900, 1_200);
    Map<?, ?> ready = CodebookAnswers.awaitState(second.client(), "both", "ready");
    assertEquals(1, ready.get("version"));
    assertEquals(400, ready.get("trained_on"));
    int documents = (Integer) ready.get("documents");
    assertTrue(documents + " documents", documents >= 1_000 && documents <= 1_200);
    assertEquals(ready, CodebookAnswers.only(first.client(), "both"));

    // A node that was away reads what there is: it samples nothing for a codebook that is ready.
    first.client().get("/_cluster/health?timeout=60s&wait_for_status=green");
    second.stop();
    first.client().post("/_vamana/codebooks/both/_train", "{\"index\": \"t\", \"field\": \"v\"}");
    second = RunningNode.start(secondHome, joining());
    new TestIndex(second.client(), "t").awaitHealth("green");
    Map<?, ?> next = CodebookAnswers.only(second.client(), "both");
    assertEquals(2, next.get("version"));
    assertEquals(1_200, next.get("trained_on"));
    assertOneTrainsAtATime(2);
    first.client().delete("/_vamana/codebooks/both");
    assertEquals(404, second.client().send("GET", "/_vamana/codebooks/both", null, null).status());
    index(second, 0, 100);
    Map<?, ?> again = CodebookAnswers.only(first.client(), "both");
    assertEquals(100, NodeClient.at(again, "sampling", "documents"));
  }
}
