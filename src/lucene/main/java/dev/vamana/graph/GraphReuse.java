package dev.vamana.graph;

import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.vectors.PairDistances;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.FixedBitSet;

/**
 * Copies the rows of an existing graph to a new one. A deleted neighbour is replaced by its own
 * neighbours as candidates, and the row is pruned again (FreshDiskANN's consolidation of deletes).
 */
final class GraphReuse {

  // a node is inserted again about once for this part of its neighbours that it has lost
  private static final double WORN = 0.2;

  private final PairDistanceFactory distances;
  private final BuildParameters parameters;
  private final Workers workers;
  private final AbortCheck abort;
  private final FixedBitSet worn;

  GraphReuse(
      PairDistanceFactory distances,
      BuildParameters parameters,
      Workers workers,
      AbortCheck abort) {
    this.distances = distances;
    this.parameters = parameters;
    this.workers = workers;
    this.abort = abort;
    this.worn = new FixedBitSet(distances.size());
  }

  /**
   * Returns the loaded nodes that should be inserted again. A repaired row has only neighbours of
   * deleted neighbours, which after many merges are not the nearest. So a node is chosen at random
   * with a probability that grows with the share of its neighbours that it has just lost.
   */
  FixedBitSet worn() {
    return worn;
  }

  /**
   * Fills the rows of all nodes of the existing graph.
   *
   * @param present receives these nodes
   * @param medoid the new graph's medoid
   * @return the node from which insertions should start their searches
   */
  int load(ExistingGraph existing, GraphRows rows, FixedBitSet present, int medoid)
      throws IOException {
    int[] newOrdinals = existing.newOrdinals();
    for (int newOrdinal : newOrdinals) {
      if (newOrdinal >= 0) {
        present.set(newOrdinal);
      }
    }
    workers.forEach(
        0,
        newOrdinals.length,
        () -> {
          RowLoader loader = new RowLoader(existing, rows, distances.create());
          return old -> {
            if (newOrdinals[old] >= 0) {
              loader.load(old);
            }
          };
        },
        abort);
    int entryPoint = newOrdinals[existing.entryPoint()];
    if (entryPoint >= 0) {
      return entryPoint;
    }
    if (present.get(medoid)) {
      return medoid;
    }
    int first = present.nextSetBit(0);
    return first == DocIdSetIterator.NO_MORE_DOCS ? medoid : first;
  }

  private final class RowLoader {
    private final Adjacency source;
    private final int[] newOrdinals;
    private final GraphRows rows;
    private final PairDistances pairs;
    private final RobustPrune prune;
    private final int[] row;
    private final int[] deletedRow;
    private final VisitedSet seen;
    private int[] candidates;
    private float[] candidateDistances;

    RowLoader(ExistingGraph existing, GraphRows rows, PairDistances pairs) throws IOException {
      this.source = existing.rows().copy();
      this.newOrdinals = existing.newOrdinals();
      this.rows = rows;
      this.pairs = pairs;
      this.prune = new RobustPrune(pairs, parameters);
      this.row = new int[source.maxDegree()];
      this.deletedRow = new int[source.maxDegree()];
      this.seen = new VisitedSet(Integer.MAX_VALUE, source.maxDegree() * 4);
      this.candidates = new int[source.maxDegree() * 2];
      this.candidateDistances = new float[candidates.length];
    }

    void load(int old) throws IOException {
      int node = newOrdinals[old];
      int degree = source.neighbors(old, row);
      seen.clear();
      seen.add(node);
      int count = 0;
      int lost = 0;
      for (int i = 0; i < degree; i++) {
        int neighbor = newOrdinals[row[i]];
        if (neighbor >= 0) {
          count = addCandidate(neighbor, count);
        } else {
          lost++;
          int second = source.neighbors(row[i], deletedRow);
          for (int j = 0; j < second; j++) {
            int candidate = newOrdinals[deletedRow[j]];
            if (candidate >= 0) {
              count = addCandidate(candidate, count);
            }
          }
        }
      }
      if (lost > 0
          && new SplittableRandom(parameters.seed() ^ ((long) old << Integer.SIZE | node))
                      .nextDouble()
                  * degree
                  * WORN
              < lost) {
        synchronized (worn) {
          worn.set(node);
        }
      }
      if (count == 0) {
        return;
      }
      pairs.pivot(node);
      pairs.distances(candidates, candidateDistances, count);
      if (lost > 0 || count > parameters.maxDegree()) {
        sortCandidates(count);
        int kept = prune.prune(node, candidates, candidateDistances, new boolean[count], count);
        rows.setRow(node, prune.kept(), prune.keptDistances(), kept);
      } else {
        rows.setRow(node, candidates, candidateDistances, count);
      }
    }

    private int addCandidate(int node, int count) {
      if (seen.add(node) == false) {
        return count;
      }
      if (count == candidates.length) {
        candidates = Arrays.copyOf(candidates, count * 2);
        candidateDistances = new float[candidates.length];
      }
      candidates[count] = node;
      return count + 1;
    }

    private void sortCandidates(int count) {
      Worklist sorted = new Worklist(count);
      for (int i = 0; i < count; i++) {
        sorted.insert(candidates[i], candidateDistances[i]);
      }
      for (int rank = 0; rank < count; rank++) {
        candidates[rank] = sorted.ordinal(rank);
        candidateDistances[rank] = sorted.distance(rank);
      }
    }
  }
}
