package dev.vamana.tools.gpu.node;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.cells.RestClients;
import dev.vamana.tools.cells.RestConnection;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Loads an Elasticsearch node and asks it as drivers of public benchmarks do, with the plugin
 * switched on by its index template for all indices and without: load time, time of the forced
 * merge, and recall, throughput and latencies by number of clients.
 */
public final class DriverTrial {

  /** Method of an index of the plugin in a node with a GPU. */
  public static final String GPU = "es-vamana-gpu";

  /** Method of an index of the plugin in a node with the GPU off. */
  public static final String CPU = "es-vamana-cpu";

  /** Method of the stock index. */
  public static final String STOCK = "es-hnsw";

  /** All methods, the first of which needs a GPU. */
  public static final List<String> METHODS = List.of(GPU, CPU, STOCK);

  private static final String TEMPLATE = "/_index_template/vamana-for-all";
  private static final String OPT_IN =
      """
      {"index_patterns": ["*"], "priority": 1,
       "template": {"settings": {"index.vamana.enabled": true}}}
      """;
  private static final int WARM_ROUNDS = 3;

  private final Plan plan;
  private final Findings findings;

  /**
   * Common parameters of all measurements.
   *
   * @param set vectors, and queries with at least 100 exact neighbours each
   * @param loaders concurrent bulk requests; the drivers send one at a time
   * @param seconds duration of each measurement
   */
  public record Plan(VectorSet set, int loaders, double seconds) {}

  /** Receives the findings while the trial runs. */
  public interface Findings {

    /**
     * Called when an index was loaded, and when it was merged.
     *
     * @param what {@code load} or {@code optimize}
     */
    void spent(String driver, String method, String what, double seconds) throws IOException;

    /** Called when an index was searched. */
    void searched(String driver, String method, Search search) throws IOException;
  }

  /**
   * A measurement of searches.
   *
   * @param clients concurrent clients
   * @param recall recall@k over all queries
   * @param times time of each request
   */
  public record Search(int clients, int numCandidates, double recall, Callers.Times times) {}

  /** A trial. */
  public DriverTrial(Plan plan, Findings findings) {
    this.plan = plan;
    this.findings = findings;
  }

  /**
   * Loads an index, unless an earlier run has, and searches it.
   *
   * @param method {@link #GPU}, {@link #CPU} or {@link #STOCK}; the first two share an index
   */
  public void run(RunningNode node, Driver driver, String method) throws IOException {
    NodeClient client = node.client();
    boolean ours = method.equals(STOCK) == false;
    // the node without the GPU searches the segments that the GPU has merged
    String index = driver.name() + (ours ? "-vamana" : "-stock");
    if (ours) {
      client.put(TEMPLATE, OPT_IN);
    } else if (client.send("GET", TEMPLATE, null, "application/json").status() == 200) {
      client.delete(TEMPLATE);
    }
    if (isThere(client, driver, index) == false) {
      fill(node, driver, method, index);
    }
    if (method.equals(GPU)) {
      client.post("/" + index + "/_vamana/warmup", null);
    }
    search(node, driver, method, index);
  }

  /** Whether an earlier run has loaded the index; what is there of an unfinished one goes. */
  private boolean isThere(NodeClient client, Driver driver, String index) throws IOException {
    if (client.send("GET", "/" + index, null, "application/json").status() != 200) {
      return false;
    }
    Object count = client.get("/" + index + "/_count").get("count");
    boolean merged = driver.merges() == false || new KnnIndex(client, index, index).segments() == 1;
    if (Integer.valueOf(plan.set().base().size()).equals(count) && merged) {
      return true;
    }
    client.delete("/" + index);
    return false;
  }

  private void fill(RunningNode node, Driver driver, String method, String index)
      throws IOException {
    NodeClient client = node.client();
    VectorSet set = plan.set();
    client.put(
        "/" + index,
        driver.mapping(set.dimension(), set.metric() == Metric.COSINE ? "cosine" : "l2_norm"));
    long start = System.nanoTime();
    load(client, driver, index);
    client.post("/" + index + "/_refresh", null);
    findings.spent(driver.name(), method, "load", (System.nanoTime() - start) / 1e9);
    if (driver.merges()) {
      start = System.nanoTime();
      mergeToOne(client, index);
      client.post("/" + index + "/_refresh", null);
      findings.spent(driver.name(), method, "optimize", (System.nanoTime() - start) / 1e9);
    }
    client.post("/" + index + "/_flush", null);
  }

  /** Merges an index to one segment by a task, which may take longer than a request. */
  private static void mergeToOne(NodeClient client, String name) throws IOException {
    Object task =
        client
            .post("/" + name + "/_forcemerge?max_num_segments=1&wait_for_completion=false", null)
            .get("task");
    Object completed = false;
    while (Boolean.TRUE.equals(completed) == false) {
      // answers sooner if the task ends, and 408 if it does not
      NodeClient.Response response =
          client.send(
              "GET",
              "/_tasks/" + task + "?wait_for_completion=true&timeout=30s",
              null,
              "application/json");
      completed = response.status() == 200 ? response.json().get("completed") : false;
    }
  }

  private void load(NodeClient client, Driver driver, String index) throws IOException {
    float[][] base = plan.set().base().rows();
    AtomicInteger next = new AtomicInteger();
    try {
      Callers.together(
          plan.loaders(),
          loader -> {
            for (int from; (from = next.getAndAdd(driver.bulkSize())) < base.length; ) {
              StringBuilder lines = new StringBuilder();
              for (int id = from; id < Math.min(base.length, from + driver.bulkSize()); id++) {
                driver.append(lines, index, id, base[id]);
              }
              client.bulk("/_bulk", lines.toString());
            }
            return null;
          });
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while loading " + index, e);
    }
  }

  private void search(RunningNode node, Driver driver, String method, String index)
      throws IOException {
    Recall recall = new Recall(plan.set(), driver.k());
    for (int numCandidates : driver.numCandidates()) {
      List<byte[]> requests = requests(node, driver, index, numCandidates);
      RestClients all = new RestClients(node.httpUri(), Collections.max(driver.clients()));
      for (int round = 0; round < WARM_ROUNDS; round++) {
        all.run(requests, plan.seconds());
      }
      double found =
          recall.of(all.askAll(requests).stream().map(driver::ids).toArray(int[][]::new));
      for (int clients : driver.clients()) {
        findings.searched(
            driver.name(),
            method,
            new Search(
                clients,
                numCandidates,
                found,
                new RestClients(node.httpUri(), clients).run(requests, plan.seconds())));
      }
    }
  }

  private List<byte[]> requests(RunningNode node, Driver driver, String index, int numCandidates) {
    String path = String.format(Locale.ROOT, "/%s/%s", index, driver.searchPath());
    List<byte[]> requests = new ArrayList<>();
    for (float[] query : plan.set().queries().rows()) {
      requests.add(RestConnection.post(node.httpUri(), path, driver.search(query, numCandidates)));
    }
    return requests;
  }
}
