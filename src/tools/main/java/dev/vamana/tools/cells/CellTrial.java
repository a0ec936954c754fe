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
    BBQ("bbq_hnsw");

    private final String type;

    Method(String type) {
      this.type = type;
    }

    String index(int segments) {
      return "cells-" + segments + "-" + type.replace('_', '-');
    }

    /** Returns the methods that a node measures. */
    static List<Method> of(boolean gpu) {
      return gpu ? List.of(GPU, HNSW) : List.of(CPU, HNSW, INT8, BBQ);
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
   */
  public record Plan(
      VectorSet set,
      String mode,
      List<Integer> segments,
      List<Integer> clients,
      double seconds,
      int starts) {

    Subject subject() {
      return new Subject(set.name(), set.base().size(), set.dimension());
    }

    /** The nodes to start: with a GPU, and without. */
    List<Boolean> nodes() {
      return mode.equals(NodeParts.OFF) ? List.of(false) : List.of(true, false);
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
      List<Map<String, String>> rows = Figures.read(figures.folder(), Sheet.CELLS);
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
    List<Method> methods = Method.of(false);
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
    boolean ours = method == Method.CPU;
    new SegmentedIndex(client, plan.set(), index)
        .fill(
            ours ? "hnsw" : method.type,
            ours ? Map.of("index.vamana.enabled", "true") : Map.of(),
            segments);
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
        method.type,
        segments,
        index.bytes(),
        offHeap == null ? "" : offHeap);
  }
}
