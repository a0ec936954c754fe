package dev.vamana.tools.gpu.node;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.cells.RestClients;
import dev.vamana.tools.cells.RestConnection;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Figures.Subject;
import dev.vamana.tools.figures.Sheet;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Loads an Elasticsearch node and asks it as drivers of public benchmarks do, with the plugin
 * switched on by its index template for all indices and without: load time, time of the forced
 * merge, and recall, throughput and latencies by number of clients.
 *
 * @param set vectors, and queries with at least 100 exact neighbours each
 * @param loaders concurrent bulk requests; the drivers send one at a time
 * @param seconds duration of each measurement
 * @param figures receives builds and searches
 * @param out receives a summary
 */
public record DriverTrial(
    VectorSet set, int loaders, double seconds, Figures figures, Consumer<String> out) {

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
    } else if (client.exists(TEMPLATE)) {
      client.delete(TEMPLATE);
    }
    if (isThere(client, driver, index) == false) {
      fill(client, driver, method, index);
    }
    if (method.equals(GPU)) {
      client.post("/" + index + "/_vamana/warmup", null);
    }
    search(node, driver, method, index);
  }

  private Subject subject() {
    return new Subject(set.name(), set.base().size(), set.dimension());
  }

  /** Whether an earlier run has loaded the index. */
  private boolean isThere(NodeClient client, Driver driver, String name) throws IOException {
    KnnIndex index = new KnnIndex(client, name, name);
    return client.exists("/" + name)
        && index.documents() == set.base().size()
        && (driver.merges() == false || index.segments() == 1);
  }

  private void fill(NodeClient client, Driver driver, String method, String index)
      throws IOException {
    client.delete("/" + index + "?ignore_unavailable=true");
    client.put("/" + index, driver.mapping(set.dimension(), KnnIndex.similarity(set.metric())));
    long start = System.nanoTime();
    load(client, driver, index);
    client.post("/" + index + "/_refresh", null);
    spent(driver, "load", method, start);
    if (driver.merges()) {
      start = System.nanoTime();
      new KnnIndex(client, index, index).mergeToOne();
      client.post("/" + index + "/_refresh", null);
      spent(driver, "optimize", method, start);
    }
    client.post("/" + index + "/_flush", null);
  }

  private void spent(Driver driver, String what, String method, long start) throws IOException {
    String name = driver.name() + " " + what + " " + method;
    double spent = (System.nanoTime() - start) * 1e-9;
    figures.add(Sheet.BUILDS, subject(), name, loaders, spent);
    out.accept(String.format(Locale.ROOT, "%s: %.1f s", name, spent));
  }

  private void load(NodeClient client, Driver driver, String index) throws IOException {
    float[][] base = set.base().rows();
    AtomicInteger next = new AtomicInteger();
    Callers.together(
        loaders,
        loader -> {
          for (int from; (from = next.getAndAdd(Driver.BULK_SIZE)) < base.length; ) {
            StringBuilder lines = new StringBuilder();
            for (int id = from; id < Math.min(base.length, from + Driver.BULK_SIZE); id++) {
              lines.append(driver.document(index, id, base[id]));
            }
            client.bulk("/_bulk", lines.toString());
          }
          return null;
        });
  }

  private void search(RunningNode node, Driver driver, String method, String index)
      throws IOException {
    Recall recall = new Recall(set, driver.k());
    for (int candidates : driver.numCandidates()) {
      List<byte[]> requests =
          Arrays.stream(set.queries().rows())
              .map(
                  query ->
                      RestConnection.post(
                          node.httpUri(),
                          "/" + index + "/" + driver.searchPath(),
                          driver.search(candidates, query)))
              .toList();
      RestClients all = new RestClients(node.httpUri(), Collections.max(driver.clients()));
      for (int round = 0; round < WARM_ROUNDS; round++) {
        all.run(requests, seconds);
      }
      double found =
          recall.of(all.askAll(requests).stream().map(driver::ids).toArray(int[][]::new));
      for (int clients : driver.clients()) {
        Callers.Times times = new RestClients(node.httpUri(), clients).run(requests, seconds);
        figures.add(
            Sheet.GPU,
            subject(),
            driver.name() + " " + candidates,
            method,
            1,
            clients,
            found,
            times.perSecond(),
            times.quantile(0.5));
        out.accept(
            String.format(
                Locale.ROOT,
                "%s, %s, %d candidates, %d clients: recall %.4f, %.0f requests/s, p99 %.1f ms",
                driver.name(),
                method,
                candidates,
                clients,
                found,
                times.perSecond(),
                times.quantile(0.99) * 1e-3));
      }
    }
  }
}
