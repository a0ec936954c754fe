package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.After;
import org.junit.Test;

/**
 * A cluster of three nodes, one with two simulated GPUs, and an index with replicas. Standard and
 * batched searches go on while a node is killed and while the others restart. None fails.
 *
 * <p>A standard search has several phases, and a shard's answer of one belongs to the node that
 * gave it. If that node leaves before the next phase, Elasticsearch answers without the shard, or
 * with an error, of which there are many kinds: the connection is gone, the node's search contexts
 * are closed, its thread pools refuse work. So the clients ask again while a node leaves, as
 * clients of Elasticsearch have to, and at no other time. Batched searches go on to other copies by
 * themselves in both of their phases, and clients never repeat them.
 */
public class ThreeNodesIT {
  private static final int NODES = 3;
  private static final int GPU = 0;
  private static final int DIMS = 12;
  // so many vectors that a walk is cheaper than a scan
  private static final int COUNT = 2000;
  private static final int CANDIDATES = 60;
  private static final int K = 10;
  private static final int QUERIES = 4;
  private static final int CLIENTS = 2;
  // Elasticsearch closes a node within seconds; a client waits much longer
  private static final int TRIES = 100;
  private static final int MILLIS_BETWEEN_TRIES = 100;
  // leaves processors to nodes that start
  private static final int MILLIS_BETWEEN_SEARCHES = 20;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 171);

  private final NodeHome[] homes = new NodeHome[NODES];
  private final RunningNode[] nodes = new RunningNode[NODES];
  private final Entrances entrances = new Entrances();

  /** Nodes that clients may ask; a node is taken out once nobody waits for it. */
  private static final class Entrances {
    private final boolean[] open = new boolean[NODES];
    private final int[] inside = new int[NODES];
    private int departures;

    synchronized void open(int node) {
      open[node] = true;
      notifyAll();
    }

    /** Counts the times a node began or ended to leave: odd while one leaves. */
    synchronized int departures() {
      return departures;
    }

    synchronized void left() {
      departures++;
    }

    synchronized void close(int node) throws InterruptedException {
      departures++;
      open[node] = false;
      while (inside[node] > 0) {
        wait();
      }
    }

    synchronized int enter(int from) {
      for (int i = 0; i < NODES; i++) {
        int node = (from + i) % NODES;
        if (open[node]) {
          inside[node]++;
          return node;
        }
      }
      throw new AssertionError("no node is open");
    }

    synchronized void leave(int node) {
      inside[node]--;
      notifyAll();
    }
  }

  @After
  public void stopNodes() throws IOException {
    for (int i = 0; i < NODES; i++) {
      if (nodes[i] != null) {
        nodes[i].kill();
      }
      if (homes[i] != null) {
        homes[i].delete();
      }
    }
  }

  private NodeOptions options(int node) {
    NodeOptions options =
        PluginNode.options()
            .withSetting("node.name", "node-" + node)
            .withSetting("vamana.gpu.wait_for_upload", "true")
            .withSetting("vamana.gpu.plan", "graph");
    options =
        node == GPU
            ? options
                .withSetting("vamana.gpu.enabled", "required")
                .withSetting("vamana.gpu.devices", "all")
            : options.withSetting("vamana.gpu.enabled", "off");
    for (RunningNode other : nodes) {
      if (other != null && other.isAlive()) {
        return options.withSetting("discovery.seed_hosts", other.transportAddress());
      }
    }
    return options.withSetting("cluster.initial_master_nodes", "node-" + node);
  }

  private void start(int node) throws IOException {
    nodes[node] = RunningNode.start(homes[node], options(node));
    entrances.open(node);
  }

  private RunningNode other(int than) {
    return nodes[(than + 1) % NODES];
  }

  private void awaitGreen(int asked) throws IOException {
    Map<String, Object> health =
        nodes[asked]
            .client()
            .get("/_cluster/health?timeout=60s&wait_for_status=green&wait_for_nodes=" + NODES);
    assertFalse(health.toString(), (Boolean) health.get("timed_out"));
  }

  @Test
  public void testSearchesOutliveNodes() throws Exception {
    for (int i = 0; i < NODES; i++) {
      homes[i] = SimulatedGpuNode.home("three-" + i);
    }
    start(GPU);
    CompletableFuture<Void> second = started(1);
    started(2).get(2, TimeUnit.MINUTES);
    second.get(2, TimeUnit.MINUTES);
    TestIndex index =
        TestIndex.create(
            nodes[GPU].client(),
            "t",
            TestIndex.VAMANA
                + ", \"index.number_of_shards\": 2, \"index.number_of_replicas\": 2"
                + ", \"index.unassigned.node_left.delayed_timeout\": \"1h\"",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.awaitHealth("green");
    index.index(0, COUNT / 2, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.index(COUNT / 2, COUNT, doc -> "{\"v\": " + VECTORS.json(doc) + "}");
    index.flush();

    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger searches = new AtomicInteger();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      Thread thread =
          new Thread(() -> searchUntil(done, client, searches, failure), "client-" + client);
      clients.add(thread);
      thread.start();
    }
    try {
      awaitSearches(searches, failure);
      awaitBothDevices();
      killUnderLoad(2, searches, failure);
      for (int node : new int[] {GPU, 1}) {
        restartUnderLoad(node, searches, failure);
      }
      awaitBothDevices();
    } finally {
      done.set(true);
      for (Thread client : clients) {
        client.join();
      }
    }
    assertNoFailure(failure);
  }

  private CompletableFuture<Void> started(int node) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            start(node);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  /** Searches on their way to shards of the node are answered by other copies. */
  private void killUnderLoad(int node, AtomicInteger searches, AtomicReference<Throwable> failure)
      throws Exception {
    entrances.close(node);
    nodes[node].kill();
    awaitSearches(searches, failure);
    entrances.left();
    start(node);
    awaitGreen(other(node) == nodes[GPU] ? GPU : 1);
    awaitSearches(searches, failure);
  }

  private void restartUnderLoad(
      int node, AtomicInteger searches, AtomicReference<Throwable> failure) throws Exception {
    entrances.close(node);
    nodes[node].stop();
    awaitSearches(searches, failure);
    entrances.left();
    start(node);
    awaitGreen(node);
    awaitSearches(searches, failure);
  }

  private static void awaitSearches(AtomicInteger searches, AtomicReference<Throwable> failure)
      throws InterruptedException {
    int before = searches.get();
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (searches.get() < before + 4 * CLIENTS) {
      assertNoFailure(failure);
      assertTrue("no searches", System.nanoTime() < deadline);
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private static void assertNoFailure(AtomicReference<Throwable> failure) {
    if (failure.get() != null) {
      throw new AssertionError("a search failed", failure.get());
    }
  }

  /** Each has the segments of a shard. Waits, since another node's copies may answer. */
  private void awaitBothDevices() throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    List<Long> items = List.of();
    while (items.size() < 2 || items.contains(0L)) {
      assertTrue("items " + items, System.nanoTime() < deadline);
      TimeUnit.MILLISECONDS.sleep(50);
      Map<?, ?> stats = SimulatedGpuNode.stats(nodes[GPU]);
      assertEquals("ready", NodeClient.at(stats, "state", "state"));
      items =
          ((List<?>) stats.get("devices"))
              .stream().map(each -> ((Number) NodeClient.at(each, "items")).longValue()).toList();
    }
    assertTrue(SimulatedGpuNode.onDevice(nodes[GPU]) > 0);
  }

  private void searchUntil(
      AtomicBoolean done, int client, AtomicInteger searches, AtomicReference<Throwable> failure) {
    int asked = client;
    while (done.get() == false && failure.get() == null) {
      int node = entrances.enter(++asked);
      try {
        if (asked % 2 == 0) {
          searchOne(nodes[node].client(), asked % COUNT);
        } else {
          searchBatch(nodes[node].client(), asked % (COUNT - QUERIES));
        }
        searches.incrementAndGet();
        TimeUnit.MILLISECONDS.sleep(MILLIS_BETWEEN_SEARCHES);
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      } finally {
        entrances.leave(node);
      }
    }
  }

  private void searchOne(NodeClient client, int query) throws Exception {
    String body =
        Json.of(
            """
            {"knn": {"field": "v", "query_vector": %s, "k": %d, "num_candidates": %d},
             "_source": false}
            """,
            VECTORS.json(query), K, CANDIDATES);
    NodeClient.Response response = whole(client, "/t/_search", body);
    double recall =
        Answers.recall(
            VECTORS.scores(VECTORS.vector(query), Similarity.L2_NORM, doc -> true),
            K,
            response.json());
    assertTrue("recall " + recall, recall >= 0.7);
  }

  /** Sends a search; once more if a shard failed while a node was leaving. */
  private NodeClient.Response whole(NodeClient client, String path, String body) throws Exception {
    int departures = entrances.departures();
    NodeClient.Response response = client.send("POST", path, body, "application/json");
    for (int i = 1; i < TRIES && isWhole(response) == false; i++) {
      boolean mayFail = departures % 2 == 1 || entrances.departures() > departures;
      assertTrue(response.status() + " " + response.body(), mayFail);
      TimeUnit.MILLISECONDS.sleep(MILLIS_BETWEEN_TRIES);
      departures = entrances.departures();
      response = client.send("POST", path, body, "application/json");
    }
    assertTrue(response.status() + " " + response.body(), isWhole(response));
    return response;
  }

  private static boolean isWhole(NodeClient.Response response) throws IOException {
    return response.status() == 200
        && ((Number) NodeClient.at(response.json(), "_shards", "failed")).intValue() == 0;
  }

  private void searchBatch(NodeClient client, int from) throws Exception {
    String vectors =
        IntStream.range(from, from + QUERIES)
            .mapToObj(VECTORS::json)
            .collect(Collectors.joining(","));
    String body =
        Json.of(
            """
            {"field": "v", "query_vectors": [%s], "k": %d, "num_candidates": %d,
             "format": "columns"}
            """,
            vectors, K, CANDIDATES);
    Map<String, Object> answer = whole(client, "/t/_vamana/search", body).json();
    List<?> ids = (List<?>) answer.get("ids");
    assertEquals(QUERIES, ids.size());
    for (int i = 0; i < QUERIES; i++) {
      List<?> hits = (List<?>) ids.get(i);
      assertEquals(answer.toString(), K, hits.size());
      assertEquals(Integer.toString(from + i), hits.get(0));
    }
  }
}
