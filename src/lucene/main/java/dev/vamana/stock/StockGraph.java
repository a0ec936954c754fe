package dev.vamana.stock;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.StoredAdjacency;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.IOSupplier;
import org.apache.lucene.util.hnsw.HnswGraph;

/**
 * Level 0 of an HNSW graph, with links to the few nodes that cannot be reached from the entry point
 * there: Lucene reaches them through the upper levels, and walks of this project have none. For one
 * thread; {@link #copy} is for another.
 */
final class StockGraph implements Adjacency {

  private static final int[] NO_LINKS = {};

  private final String name;
  private final IOSupplier<HnswGraph> source;
  private final HnswGraph graph;
  private final int size;
  private final int stride;
  // by node, the nodes that it links to besides its neighbours
  private final Map<Integer, int[]> links;

  private StockGraph(
      String name, IOSupplier<HnswGraph> source, int size, int stride, Map<Integer, int[]> links)
      throws IOException {
    this.name = name;
    this.source = source;
    this.graph = source.get();
    this.size = size;
    this.stride = stride;
    this.links = links;
  }

  /**
   * Opens a graph. Reads all of it once, to find nodes that cannot be reached: a third of a second
   * a million nodes, and 3 bits a node on the heap.
   *
   * @param name segment and field, for messages
   * @param source opens the graph for a thread
   * @param size number of nodes
   * @param stride slots of a row; a longer row is damaged
   * @param entryPoint ordinal from which walks start
   */
  static StockGraph open(
      String name, IOSupplier<HnswGraph> source, int size, int stride, int entryPoint)
      throws IOException {
    Map<Integer, int[]> links = new HashMap<>();
    StockGraph graph = new StockGraph(name, source, size, stride, links);
    new Linker(graph).run(entryPoint);
    return graph;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int maxDegree() {
    return stride;
  }

  @Override
  public int neighbors(int ordinal, int[] neighbors) throws IOException {
    graph.seek(0, ordinal);
    int degree = 0;
    int neighbor;
    while ((neighbor = graph.nextNeighbor()) != DocIdSetIterator.NO_MORE_DOCS) {
      if (neighbor < 0 || neighbor >= size || degree == stride) {
        throw new CorruptIndexException(
            "node "
                + ordinal
                + " names neighbor "
                + neighbor
                + " of "
                + size
                + " in slot "
                + degree
                + " of "
                + stride,
            name);
      }
      neighbors[degree++] = neighbor;
    }
    for (int link : links.getOrDefault(ordinal, NO_LINKS)) {
      neighbors[degree++] = link;
    }
    return degree;
  }

  @Override
  public StockGraph copy() throws IOException {
    return new StockGraph(name, source, size, stride, links);
  }

  /** Returns this graph's rows as {@link StoredAdjacency} has them in a file. */
  RowInput.Rows rows() {
    int[] row = new int[stride];
    return (ordinal, bytes) -> {
      int degree = neighbors(ordinal, row);
      Arrays.fill(row, degree, stride, StoredAdjacency.UNUSED);
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().put(row);
    };
  }

  /**
   * Links nodes that cannot be reached. A missing node is linked from a neighbour of its own, or of
   * a neighbour, that can be reached and has a free slot. The few for which there is none stay as
   * they are; walks do not find them.
   */
  private static final class Linker {
    private final StockGraph graph;
    private final FixedBitSet reached;
    private final int[] near;
    private final int[] row;

    Linker(StockGraph graph) {
      this.graph = graph;
      this.reached = new FixedBitSet(graph.size);
      this.near = new int[graph.stride];
      this.row = new int[graph.stride];
    }

    void run(int entryPoint) throws IOException {
      reachAll(entryPoint);
      int missing = 0;
      while ((missing = nextMissing(missing)) < graph.size) {
        link(missing);
        reachFrom(missing);
      }
    }

    private int nextMissing(int from) {
      int node = from;
      while (node < graph.size && reached.get(node)) {
        node++;
      }
      return node;
    }

    /** Goes breadth first, and in each round by ordinal, as the file is. */
    private void reachAll(int entryPoint) throws IOException {
      reached.set(entryPoint);
      FixedBitSet round = new FixedBitSet(graph.size);
      round.set(entryPoint);
      for (int found = 1; found > 0; ) {
        found = 0;
        FixedBitSet next = new FixedBitSet(graph.size);
        for (int node = round.nextSetBit(0); node < graph.size; node = after(round, node)) {
          int degree = graph.neighbors(node, row);
          for (int i = 0; i < degree; i++) {
            if (reached.getAndSet(row[i]) == false) {
              next.set(row[i]);
              found++;
            }
          }
        }
        round = next;
      }
    }

    private int after(FixedBitSet nodes, int node) {
      return node + 1 < graph.size ? nodes.nextSetBit(node + 1) : graph.size;
    }

    /** Marks the nodes that a missing one leads to, most often none. */
    private void reachFrom(int missing) throws IOException {
      reached.set(missing);
      int[] waiting = {missing};
      for (int count = 1; count > 0; ) {
        int degree = graph.neighbors(waiting[--count], row);
        for (int i = 0; i < degree; i++) {
          if (reached.getAndSet(row[i]) == false) {
            waiting = ArrayUtil.grow(waiting, count + 1);
            waiting[count++] = row[i];
          }
        }
      }
    }

    private void link(int missing) throws IOException {
      int degree = graph.neighbors(missing, near);
      for (int i = 0; i < degree; i++) {
        if (linkFrom(near[i], missing)) {
          return;
        }
      }
      for (int i = 0; i < degree; i++) {
        int others = graph.neighbors(near[i], row);
        int[] ofNeighbor = Arrays.copyOf(row, others);
        for (int other : ofNeighbor) {
          if (linkFrom(other, missing)) {
            return;
          }
        }
      }
    }

    private boolean linkFrom(int node, int missing) throws IOException {
      if (reached.get(node) == false || graph.neighbors(node, row) == graph.stride) {
        return false;
      }
      int[] before = graph.links.getOrDefault(node, NO_LINKS);
      int[] after = Arrays.copyOf(before, before.length + 1);
      after[before.length] = missing;
      graph.links.put(node, after);
      return true;
    }
  }
}
