package dev.vamana.tools.gpu.node;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.cells.RestClients;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Figures.Subject;
import dev.vamana.tools.figures.Sheet;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Searches an index while documents arrive at a rate: half of a set is there at the beginning, the
 * node refreshes every second, and two loaders send bulk requests. The tail of the latencies shows
 * what refreshes and merges cost a search.
 */
public final class NrtTrial {

  private static final int BULK = 250;
  private static final int LOADERS = 2;
  private static final int NUM_CANDIDATES = 100;
  private static final double WARM_UP_SECONDS = 3;

  private final RunningNode node;
  private final VectorSet set;
  private final Figures figures;
  private final Consumer<String> out;

  /** An index that is measured. */
  public enum Kind {
    /** Our index in a node with a GPU. */
    VAMANA_GPU("hnsw"),
    /** Our index in a node whose GPU is off. */
    VAMANA_CPU("hnsw"),
    /** The stock index with vectors of floats, searched by the node's GPU. */
    GPU_HNSW("hnsw"),
    /** The stock index with a byte for each component, searched by the node's GPU. */
    GPU_INT8_HNSW("int8_hnsw"),
    /** The stock index with a bit for each component, searched by the node's GPU. */
    GPU_BBQ_HNSW("bbq_hnsw"),
    /** The stock index with vectors of floats. */
    HNSW("hnsw"),
    /** The stock index with a byte for each component. */
    INT8_HNSW("int8_hnsw"),
    /** The stock index with a bit for each component. */
    BBQ_HNSW("bbq_hnsw");

    private final String type;

    Kind(String type) {
      this.type = type;
    }

    /** Returns the name in figures. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether the node needs its GPU. */
    public boolean gpu() {
      return this == VAMANA_GPU || accelerated();
    }

    private boolean accelerated() {
      return this == GPU_HNSW || this == GPU_INT8_HNSW || this == GPU_BBQ_HNSW;
    }

    private Map<String, String> settings() {
      return this == VAMANA_GPU || this == VAMANA_CPU
          ? Map.of("index.vamana.enabled", "true")
          : accelerated() ? Map.of("index.vamana.accelerate", "true") : Map.of();
    }
  }

  /**
   * Makes a trial on a node.
   *
   * @param out receives a summary
   */
  public NrtTrial(RunningNode node, VectorSet set, Figures figures, Consumer<String> out) {
    this.node = node;
    this.set = set;
    this.figures = figures;
    this.out = out;
  }

  /**
   * Creates an index, searches it while it grows, and deletes it.
   *
   * @param rate documents a second to add; 0 for none
   * @param clients concurrent clients, each of which searches all the time
   * @param seconds length of the measurement
   */
  public void run(Kind kind, int rate, int clients, double seconds) throws IOException {
    String name = "nrt-" + kind.label().replace('_', '-');
    NodeClient client = node.client();
    client.delete("/" + name + "?ignore_unavailable=true");
    KnnIndex index = new KnnIndex(client, name, name);
    index.create(set.dimension(), set.metric(), kind.type, 1, kind.settings());
    int half = Math.max(1, set.base().size() / 2);
    for (int from = 0; from < half; from += BULK) {
      add(index, from, Math.min(half, from + BULK));
    }
    client.put("/" + name + "/_settings", "{\"index.refresh_interval\": \"1s\"}");
    client.post("/" + name + "/_refresh", null);
    List<byte[]> searches =
        new RestClients(node.httpUri(), clients).searches(name, set, NUM_CANDIDATES);
    RestClients asking = new RestClients(node.httpUri(), clients);
    AtomicBoolean done = new AtomicBoolean();
    AtomicInteger next = new AtomicInteger(half);
    // the first thread measures while the others load
    Callers.Times times =
        Callers.together(
                rate == 0 ? 1 : 1 + LOADERS,
                thread -> {
                  if (thread > 0) {
                    load(index, rate, next, done);
                    return null;
                  }
                  try {
                    asking.run(searches, Math.min(WARM_UP_SECONDS, seconds));
                    return asking.run(searches, seconds);
                  } finally {
                    done.set(true);
                  }
                })
            .get(0);
    out.accept(
        String.format(
            Locale.ROOT,
            "%s, %d documents/s, %d clients: %.0f searches/s, ms p50 %.1f p99 %.1f p99.9 %.1f max"
                + " %.1f; %d segments",
            kind.label(),
            rate,
            clients,
            times.perSecond(),
            times.quantile(0.5) * 1e-3,
            times.quantile(0.99) * 1e-3,
            times.quantile(0.999) * 1e-3,
            times.quantile(1) * 1e-3,
            index.segments()));
    figures.add(
        Sheet.NRT,
        new Subject(set.name(), set.base().size(), set.dimension()),
        kind.label(),
        rate,
        clients,
        times.micros().length,
        times.quantile(0.5) * 1e-3,
        times.quantile(0.99) * 1e-3,
        times.quantile(1) * 1e-3,
        next.get() - half);
    client.delete("/" + name);
  }

  /** Adds this thread's part of the documents at the rate until the measurement is done. */
  private void load(KnnIndex index, int rate, AtomicInteger next, AtomicBoolean done)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    for (long sent = 0; done.get() == false; ) {
      long due = start + (long) (1e9 * sent * LOADERS / rate);
      if (System.nanoTime() < due) {
        TimeUnit.MILLISECONDS.sleep(1);
      } else {
        int from = next.getAndAdd(BULK);
        add(index, from, from + BULK);
        sent += BULK;
      }
    }
  }

  /** Adds documents, with the set's vectors from the beginning when all have been added. */
  private void add(KnnIndex index, int from, int to) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int id = from; id < to; id++) {
      KnnIndex.appendDocument(lines, id, set.base().rows()[id % set.base().size()]);
    }
    index.bulk(lines.toString());
  }
}
