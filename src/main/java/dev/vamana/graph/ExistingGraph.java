package dev.vamana.graph;

/**
 * A graph that a new one may start from: that of a merge's largest source segment.
 *
 * @param rows its adjacency
 * @param entryPoint its medoid, in its own ordinals
 * @param passes how often each of its nodes was inserted
 * @param newOrdinals for each of its ordinals the ordinal in the new graph, or -1 where the vector
 *     was deleted
 */
public record ExistingGraph(Adjacency rows, int entryPoint, int passes, int[] newOrdinals) {

  public ExistingGraph {
    if (newOrdinals.length != rows.size()) {
      throw new IllegalArgumentException(
          "newOrdinals must map all " + rows.size() + " nodes, got " + newOrdinals.length);
    }
  }
}
