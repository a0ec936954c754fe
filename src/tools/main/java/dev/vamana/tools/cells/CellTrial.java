package dev.vamana.tools.cells;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Figures.Subject;
import dev.vamana.tools.figures.Sheet;
import dev.vamana.tools.gpu.node.NodeParts;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.lucene.util.IOUtils;

/**
 * Compares standard searches of our index with the stock ones at equal recall, over HTTP, by number
 * of segments and of clients: in a node with a GPU, and in one with the GPU off. Another node has
 * filled the indices before, since a node that has built graphs searches more slowly than a fresh
 * one.
 */
public final class CellTrial {

  /** Recalls at which indices are compared. */
  static final List<Double> RECALLS = List.of(0.95, 0.99);

  /** A shard flushes before its share of the heap is full; a segment has to fit into it. */
  private static final Map<String, String> SETTINGS =
      Map.of("indices.memory.index_buffer_size", "40%");

  private final Plan plan;
  private final Figures figures;
  private final Consumer<String> out;

  /** An index that is compared. */
  enum Method {
    /** Our index in the node with a GPU. */
    GPU("vamana"),
    /** Our index in the node whose GPU is off. */
    CPU("vamana"),
    /** The stock index with vectors of floats. */
    HNSW("hnsw"),
    /** The stock index with a byte for each component. */
    INT8("int8_hnsw"),
    /** The stock index with a bit for each component, which re-ranks. */
    BBQ("bbq_hnsw"),
    /** The stock index with vectors of floats, searched by the node's GPU. */
    GPU_HNSW("hnsw"),
    /** The stock index with a byte for each component, searched by the node's GPU. */
    GPU_INT8("int8_hnsw"),
    /** The stock index with a bit for each component, searched by the node's GPU. */
    GPU_BBQ("bbq_hnsw");

    private static final List<Method> ACCELERATED = List.of(GPU_HNSW, GPU_INT8, GPU_BBQ);

    private final String type;

    Method(String type) {
      this.type = type;
    }

    String index(int segments) {
      return "cells-"
          + segments
          + "-"
          + type.replace('_', '-')
          + (ACCELERATED.contains(this) ? "-gpu" : "");
    }

    /** Returns the name in figures. */
    String label() {
      return ACCELERATED.contains(this) ? "gpu_" + type : type;
    }

    /** Whether the node's GPU may answer. */
    boolean usesGpu() {
      return this == GPU || ACCELERATED.contains(this);
    }

    private Map<String, String> settings() {
      return ACCELERATED.contains(this)
          ? Map.of("index.vamana.accelerate", "true")
          : this == CPU || this == GPU ? Map.of("index.vamana.enabled", "true") : Map.of();
    }

    private String indexOptions() {
      return this == CPU || this == GPU ? "hnsw" : type;
    }
  }

  /**
   * The measurements to make.
   *
   * @param set vectors and queries
   * @param mode of the node that is measured beside the one without a GPU, as of {@link
   *     NodeParts#start}; {@link NodeParts#OFF} for none
   * @param segments numbers of segments
   * @param clients numbers of concurrent clients
   * @param seconds duration of a turn; each point has three or more in each start
   * @param starts how often the nodes are started for each number of segments, since what a JVM
   *     compiles differs from start to start
   * @param stock whether stock indices that the GPU searches are compared with the same without it,
   *     in one node, instead of our index with the stock ones
   */
  public record Plan(
      VectorSet set,
      String mode,
      List<Integer> segments,
      List<Integer> clients,
      double seconds,
      int starts,
      boolean stock) {

    Subject subject() {
      return new Subject(set.name(), set.base().size(), set.dimension());
    }

    /** The nodes to start: with a GPU, and without. */
    List<Boolean> nodes() {
      return mode.equals(NodeParts.OFF)
          ? List.of(false)
          : stock ? List.of(true) : List.of(true, false);
    }

    /** Returns the methods that a node measures. */
    List<Method> methods(boolean gpu) {
      if (stock) {
        return List.of(
            Method.GPU_HNSW, Method.HNSW, Method.GPU_INT8, Method.INT8, Method.GPU_BBQ, Method.BBQ);
      }
      return gpu
          ? List.of(Method.GPU, Method.HNSW)
          : List.of(Method.CPU, Method.HNSW, Method.INT8, Method.BBQ);
    }

    /** Returns the file of the ratios. */
    Sheet sheet() {
      return stock ? Sheet.STOCK_CELLS : Sheet.CELLS;
    }
  }

  /**
   * Makes a trial.
   *
   * @param out receives progress
   */
  public CellTrial(Plan plan, Figures figures, Consumer<String> out) {
    this.plan = plan;
    this.figures = figures;
    this.out = out;
  }

  /** Runs the trial. Numbers of segments that an earlier run has measured are left out. */
  public void run(NodeParts parts) throws IOException {
    List<Integer> left = plan.segments().stream().filter(this::isLeft).toList();
    if (left.isEmpty()) {
      return;
    }
    try (RunningNode node = parts.start(plan.mode(), SETTINGS)) {
      fill(node, left);
    }
    // both are copies, so that their files are laid out alike
    Map<Boolean, NodeParts> copies = new HashMap<>();
    for (boolean gpu : plan.nodes()) {
      copies.put(gpu, parts.copy(gpu ? "gpu" : NodeParts.OFF));
    }
    for (int segments : left) {
      CellTurns turns = new CellTurns(plan, segments, out);
      for (int start = 0; start < plan.starts(); start++) {
        List<CellTurns.Side> sides = new ArrayList<>();
        try {
          for (boolean gpu : start % 2 == 0 ? plan.nodes() : plan.nodes().reversed()) {
            String mode = gpu ? plan.mode() : NodeParts.OFF;
            sides.add(new CellTurns.Side(copies.get(gpu).start(mode, SETTINGS), gpu));
          }
          turns.take(sides);
        } finally {
          IOUtils.close(sides);
        }
      }
      turns.report(figures);
    }
  }

  private boolean isLeft(int segments) {
    try {
      List<Map<String, String>> rows = Figures.read(figures.folder(), plan.sheet());
      return plan.clients().stream()
          .anyMatch(
              clients ->
                  rows.stream()
                      .noneMatch(
                          row ->
                              row.get("commit").equals(figures.commit())
                                  && row.get("set").equals(plan.set().name())
                                  && row.get("n").equals("" + plan.set().base().size())
                                  && row.get("segments").equals("" + segments)
                                  && row.get("clients").equals("" + clients)));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  /** Fills the indices side by side: each is filled by one thread. */
  private void fill(RunningNode node, List<Integer> all) throws IOException {
    List<Method> methods = plan.methods(false);
    Callers.together(
        methods.size() * all.size(),
        i -> {
          fill(node, methods.get(i % methods.size()), all.get(i / methods.size()));
          return null;
        });
  }

  private void fill(RunningNode node, Method method, int segments) throws IOException {
    String name = method.index(segments);
    NodeClient client = node.client();
    KnnIndex index = new KnnIndex(client, name, name);
    long start = System.nanoTime();
    new SegmentedIndex(client, plan.set(), index)
        .fill(method.indexOptions(), method.settings(), segments);
    out.accept(name + ": filled in " + (System.nanoTime() - start) / 1_000_000_000 + " s");
    Object offHeap =
        NodeClient.at(
            client.get("/" + name + "/_stats/dense_vector"),
            "_all",
            "primaries",
            "dense_vector",
            "off_heap",
            "total_size_bytes");
    figures.add(
        Sheet.SIZES,
        plan.subject(),
        method.label(),
        segments,
        index.bytes(),
        offHeap == null ? "" : offHeap);
  }
}
