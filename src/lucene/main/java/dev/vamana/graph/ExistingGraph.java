package dev.vamana.graph;

/**
 * A graph from which a new graph starts, or that is joined to it: in a merge, the graph of a source
 * segment.
 *
 * @param rows its adjacency rows
 * @param entryPoint its medoid, in its own ordinals
 * @param passes how often each of its nodes was inserted
 * @param newOrdinals maps its ordinals to ordinals of the new graph, or to -1 if the vector was
 *     deleted
 */
public record ExistingGraph(Adjacency rows, int entryPoint, int passes, int[] newOrdinals) {

  public ExistingGraph {
    if (newOrdinals.length != rows.size()) {
      throw new IllegalArgumentException(
          "newOrdinals must map all " + rows.size() + " nodes, got " + newOrdinals.length);
    }
  }
}
