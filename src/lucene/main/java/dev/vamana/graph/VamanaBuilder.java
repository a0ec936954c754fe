package dev.vamana.graph;

import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.util.FixedBitSet;

/**
 * Builds Vamana graphs (DiskANN, section 2; the graph that BANG searches).
 *
 * <p>An insertion is a greedy search from the medoid for the node's surroundings, a robust prune
 * that chooses diverse out-neighbours among them, and edges back, with a prune of rows that
 * overflow. A second pass inserts every node again that has been inserted only once, since the
 * first nodes were inserted into a graph of few nodes. With one thread the result depends only on
 * the input and the seed.
 */
public final class VamanaBuilder {

  // one thread inserts the first nodes, because they shape the graph that all later insertions
  // search
  private static final int SEQUENTIAL_INSERTIONS = 512;
  // longer chains keep no more in the caches, and the threads would end at different times
  private static final int CHAIN = 64;

  private final PairDistanceFactory distances;
  private final BuildParameters parameters;
  private final Workers workers;
  private final MemoryBudget memory;
  private final AbortCheck abort;

  /**
   * Makes a builder of one graph.
   *
   * @param distances distances between the vectors of the graph
   * @param workers threads to build with
   * @param memory bounds the native memory of this and other builds; beyond it rows lie in a file
   * @param abort called regularly on every building thread
   */
  public VamanaBuilder(
      PairDistanceFactory distances,
      BuildParameters parameters,
      Workers workers,
      MemoryBudget memory,
      AbortCheck abort) {
    this.distances = distances;
    this.parameters = parameters;
    this.workers = workers;
    this.memory = memory;
    this.abort = abort;
  }

  /**
   * Builds a graph over all vectors. The caller closes it.
   *
   * @param medoid ordinal from which searches will start
   * @param existing graphs over some of the vectors, without a vector in common: the first is where
   *     the build starts, and the others are joined to it; may be empty
   * @throws IOException if reading vectors fails or the abort check throws
   */
  public VamanaGraph build(int medoid, List<ExistingGraph> existing) throws IOException {
    GraphRows rows = new GraphRows(distances.size(), parameters.maxDegree(), memory, abort);
    VamanaGraph graph = null;
    try {
      graph = build(rows, medoid, existing);
      return graph;
    } finally {
      if (graph == null) {
        rows.close();
      }
    }
  }

  private VamanaGraph build(GraphRows rows, int medoid, List<ExistingGraph> existing)
      throws IOException {
    int size = rows.size();
    FixedBitSet present = new FixedBitSet(size);
    GraphReuse reuse = new GraphReuse(distances, parameters, workers, abort);
    int entryPoint =
        existing.isEmpty() ? medoid : reuse.load(existing.get(0), rows, present, medoid);
    int reused = present.cardinality();
    FixedBitSet joined = new FixedBitSet(size);
    if (existing.size() > 1) {
      for (ExistingGraph other : existing.subList(1, existing.size())) {
        reuse.load(other, rows, joined, medoid);
      }
      present.or(joined);
      FixedBitSet others = joined.clone();
      others.flip(0, size);
      insertInChains(rows, others, entryPoint, SearchWidths.joined(parameters), true);
    }
    FixedBitSet firstPass = present.clone();
    // the entry point is not inserted in the first pass: there is nothing to search yet
    firstPass.set(entryPoint);
    insertMissing(rows, firstPass, entryPoint);
    if (parameters.passes() > 1) {
      boolean all = existing.isEmpty() == false && existing.get(0).passes() < parameters.passes();
      FixedBitSet left = all ? joined : present;
      left.andNot(reuse.worn());
      insertInChains(rows, left, entryPoint, SearchWidths.second(parameters), false);
    }
    workers.forEach(
        0,
        size,
        () -> {
          NodeInserter inserter =
              new NodeInserter(
                  rows, parameters, SearchWidths.even(parameters), medoid, distances.create());
          return inserter::trim;
        },
        abort);
    new Reachability(rows, parameters, medoid, distances.create(), memory, abort).repair();
    return new VamanaGraph(rows, parameters.maxDegree(), medoid, reused);
  }

  private void insertMissing(GraphRows rows, FixedBitSet present, int entryPoint)
      throws IOException {
    int size = rows.size();
    InsertionOrder order = new InsertionOrder(size, parameters.seed());
    SearchWidths widths =
        parameters.passes() > 1 ? SearchWidths.first(parameters) : SearchWidths.even(parameters);
    Workers.BodyFactory inserters =
        () -> {
          NodeInserter inserter =
              new NodeInserter(rows, parameters, widths, entryPoint, distances.create());
          return position -> {
            int node = order.ordinal(position);
            if (present.get(node) == false) {
              inserter.insert(node);
            }
          };
        };
    int sequential = Math.min(size, SEQUENTIAL_INSERTIONS);
    Workers.callingThread().forEach(0, sequential, inserters, abort);
    workers.forEach(sequential, size, inserters, abort);
  }

  /**
   * Inserts nodes that have neighbours already, in an earlier pass or another graph. After a node
   * comes its nearest neighbour that is open, because it needs nearly the same vectors and rows,
   * which are then in the caches.
   *
   * @param left nodes that are not inserted
   * @param joins whether the nodes are of graphs that are joined to the first
   */
  private void insertInChains(
      GraphRows rows, FixedBitSet left, int entryPoint, SearchWidths widths, boolean joins)
      throws IOException {
    InsertionOrder order = new InsertionOrder(rows.size(), parameters.seed());
    OpenNodes open = new OpenNodes(left);
    workers.forEach(
        0,
        rows.size(),
        () -> {
          NodeInserter inserter =
              new NodeInserter(rows, parameters, widths, entryPoint, distances.create());
          return position -> {
            int node = order.ordinal(position);
            if (open.take(node) == false) {
              return;
            }
            for (int length = 1; node >= 0; length++) {
              if (joins) {
                inserter.join(node, open);
              } else {
                inserter.insertAgain(node);
              }
              node = length < CHAIN ? inserter.takeNeighbor(open) : -1;
            }
            abort.check();
          };
        },
        abort);
  }
}
