package dev.vamana.tools.gpu.node;

import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.IntStream;

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
   * What all measurements have in common.
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
    void spent(Driver driver, String method, String what, double seconds) throws IOException;

    /** Called when an index was searched. */
    void searched(Driver driver, String method, Search search) throws IOException;

    /** Logs progress. */
    void say(String format, Object... values);
  }

  /**
   * A measurement of searches.
   *
   * @param clients concurrent clients
   * @param recall recall@k over all queries
   * @param micros time of each request, ascending
   * @param answered queries by placement and by reason of the CPU
   */
  public record Search(
      int clients,
      int numCandidates,
      double recall,
      double[] micros,
      double requestsPerSecond,
      Map<String, Map<String, Long>> answered) {

    /**
     * Returns a quantile of the requests' time.
     *
     * @param share 0 to 1
     */
    public double micros(double share) {
      return micros[(int) Math.min(micros.length - 1L, (long) (share * micros.length))];
    }
  }

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
    // what the GPU has merged is what the node without it searches
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
      findings.say("%s", client.post("/" + index + "/_vamana/warmup", null));
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
    findings.spent(driver, method, "load", (System.nanoTime() - start) / 1e9);
    if (driver.merges()) {
      start = System.nanoTime();
      NodeIndex.mergeToOne(client, index);
      client.post("/" + index + "/_refresh", null);
      findings.spent(driver, method, "optimize", (System.nanoTime() - start) / 1e9);
      findings.say("merges: %s", client.get("/" + index + "/_stats/merge").get("_all"));
      if (method.equals(STOCK) == false) {
        findings.say("builds: %s", client.get("/_vamana/nodes/_local/stats/build").get("nodes"));
      }
    }
    client.post("/" + index + "/_flush", null);
  }

  private void load(NodeClient client, Driver driver, String index) throws IOException {
    float[][] base = plan.set().base().rows();
    int bulks = (base.length + driver.bulkSize() - 1) / driver.bulkSize();
    try (ForkJoinPool loaders = new ForkJoinPool(plan.loaders())) {
      loaders
          .submit(
              () ->
                  IntStream.range(0, bulks)
                      .parallel()
                      .forEach(bulk -> send(client, driver, index, base, bulk)))
          .get();
    } catch (ExecutionException e) {
      throw new IOException("loading " + index + " failed: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while loading " + index, e);
    }
  }

  private static void send(
      NodeClient client, Driver driver, String index, float[][] base, int bulk) {
    StringBuilder lines = new StringBuilder();
    int to = Math.min(base.length, (bulk + 1) * driver.bulkSize());
    for (int id = bulk * driver.bulkSize(); id < to; id++) {
      driver.append(lines, index, id, base[id]);
    }
    try {
      client.bulk("/_bulk", lines.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void search(RunningNode node, Driver driver, String method, String index)
      throws IOException {
    Recall recall = new Recall(plan.set(), driver.k());
    for (int numCandidates : driver.numCandidates()) {
      List<byte[]> requests = requests(node, driver, index, numCandidates);
      RestClients all =
          new RestClients(node.httpUri(), driver.clients().get(driver.clients().size() - 1));
      for (int round = 0; round < WARM_ROUNDS; round++) {
        all.run(requests, plan.seconds());
      }
      double found =
          recall.of(
              all.askAll(requests).stream()
                  .map(answer -> driver.ids(new String(answer, StandardCharsets.UTF_8)))
                  .toArray(int[][]::new));
      for (int clients : driver.clients()) {
        GpuCounters before = GpuCounters.of(node);
        RestClients.Answers answers =
            new RestClients(node.httpUri(), clients).run(requests, plan.seconds());
        double[] micros = answers.micros().clone();
        Arrays.sort(micros);
        findings.searched(
            driver,
            method,
            new Search(
                clients,
                numCandidates,
                found,
                micros,
                answers.requestsPerSecond(),
                method.equals(GPU) ? GpuCounters.of(node).since(before) : Map.of()));
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
