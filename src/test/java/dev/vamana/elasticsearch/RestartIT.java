package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.After;
import org.junit.Test;

/** A crash, orderly restarts, and the removal of the plugin. */
public class RestartIT {
  private static final int DIMS = 12;
  private static final int COUNT = 400;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 31);
  private static final float[] QUERY = TestVectors.random(1, DIMS, 32).vector(0);

  private NodeHome home;
  private RunningNode node;

  @After
  public void stopNode() throws IOException {
    if (node != null) {
      node.close();
    }
    if (home != null) {
      home.delete();
    }
  }

  private TestIndex index(String name) {
    return new TestIndex(node.client(), name);
  }

  private TestIndex create(String name) throws IOException {
    return TestIndex.create(
        node.client(),
        name,
        TestIndex.VAMANA,
        TestIndex.denseVector("v", "float", DIMS, "cosine", "hnsw"));
  }

  private static String source(int doc) {
    return "{\"v\": " + VECTORS.json(doc) + "}";
  }

  private static void assertAnswers(TestIndex index, int count) throws IOException {
    Answers.assertBest(
        VECTORS.scores(QUERY, Similarity.COSINE, doc -> doc < count),
        10,
        index.knn("v", QUERY, 10, 150));
  }

  @Test
  public void testCrashRemovalAndReturn() throws IOException {
    home = PluginNode.home("restart");
    node = RunningNode.start(home, PluginNode.options());
    for (String name : new String[] {"stays", "leaves"}) {
      TestIndex index = create(name);
      index.index(0, COUNT / 4, RestartIT::source);
      index.index(COUNT / 4, COUNT / 2, RestartIT::source);
      index.flush();
      assertAnswers(index, COUNT / 2);
    }
    // Documents that a crash leaves in the translog only are written anew when the shard recovers.
    index("stays").index(COUNT / 2, COUNT, RestartIT::source);
    node.kill();

    node = RunningNode.start(home, PluginNode.options());
    index("stays").assertSegmentsInOurFormat(true);
    assertAnswers(index("stays"), COUNT);
    assertEquals(
        List.of(
            "segments leaves", "segments stays", "index_settings leaves", "index_settings stays"),
        inTheWay());
    takeOut(index("leaves"), COUNT / 2);
    assertEquals(List.of("segments stays", "index_settings stays"), inTheWay());
    node.stop();

    home.removePlugin("vamana");
    node = RunningNode.start(home, PluginNode.options().withAwaitStatus("red"));
    index("leaves").awaitHealth("green");
    assertAnswers(index("leaves"), COUNT / 2);
    index("leaves").index(COUNT / 2, COUNT, RestartIT::source);
    assertAnswers(index("leaves"), COUNT);
    Map<String, Object> health = node.client().get("/_cluster/health/stays");
    assertEquals("red", health.get("status"));
    assertTrue(node.log().contains("unknown setting [index.vamana."));
    node.stop();

    assertEquals("vamana", home.installPlugin(PluginNode.zip()));
    node = RunningNode.start(home, PluginNode.options());
    index("stays").awaitHealth("green");
    index("stays").assertSegmentsInOurFormat(true);
    assertAnswers(index("stays"), COUNT);
    assertAnswers(index("leaves"), COUNT);
    forgetSettings(index("stays"));
    takeOut(index("stays"), COUNT);
    // a node that is alone holds no replicas, which must not keep the plugin forever
    node.client().put("/yellow", "{\"settings\": {\"index.number_of_replicas\": 1}}");
    assertEquals(List.of(), inTheWay());
    assertEquals(true, node.client().get("/_vamana/removal").get("removable"));
  }

  /** Kinds and names of what needs the plugin. */
  private List<String> inTheWay() throws IOException {
    List<?> found = (List<?>) node.client().get("/_vamana/removal").get("in_the_way");
    return found.stream()
        .map(each -> ((Map<?, ?>) each).get("kind") + " " + ((Map<?, ?>) each).get("name"))
        .toList();
  }

  /** Segments stay in our format, and the node tells of them. */
  private void forgetSettings(TestIndex index) throws IOException {
    index.close();
    assertEquals(List.of("closed_index stays", "index_settings stays"), inTheWay());
    index.set("\"index.vamana.*\": null");
    index.open();
    index.assertSegmentsInOurFormat(true);
    assertEquals(List.of("segments stays"), inTheWay());
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (troubles().contains("leftover_segments stays") == false) {
      assertTrue(troubles().toString(), System.nanoTime() < deadline);
      Thread.onSpinWait();
    }
    Object report =
        NodeClient.at(node.client().get("/_health_report/vamana"), "indicators", "vamana");
    assertEquals("yellow", NodeClient.at(report, "status"));
    Object diagnosis = ((List<?>) NodeClient.at(report, "diagnosis")).get(0);
    assertEquals(
        "elasticsearch:health:vamana:diagnosis:leftover_segments", NodeClient.at(diagnosis, "id"));
  }

  private List<String> troubles() throws IOException {
    Map<String, Object> stats = node.client().get("/_vamana/nodes/stats/health");
    Map<?, ?> only = (Map<?, ?>) ((Map<?, ?>) stats.get("nodes")).values().iterator().next();
    return ((List<?>) only.get("health"))
        .stream()
            .map(each -> ((Map<?, ?>) each).get("kind") + " " + ((Map<?, ?>) each).get("subject"))
            .toList();
  }

  /** The way out of docs/operators/existing-data.md. */
  private static void takeOut(TestIndex index, int count) throws IOException {
    index.close();
    index.set("\"index.vamana.enabled\": false");
    index.open();
    index.forceMerge();
    index.assertSegmentsInOurFormat(false);
    index.close();
    index.set("\"index.vamana.*\": null");
    index.open();
    assertAnswers(index, count);
  }
}
