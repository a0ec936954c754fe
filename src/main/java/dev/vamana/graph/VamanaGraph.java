package dev.vamana.graph;

/**
 * A finished graph on the heap.
 *
 * @param rows the adjacency rows, each of at most the max degree
 * @param maxDegree most neighbours of a row
 * @param entryPoint ordinal from which searches start, the medoid; every node can be reached from
 *     it
 * @param reusedNodes number of nodes taken from an existing graph instead of being inserted
 */
public record VamanaGraph(Adjacency rows, int maxDegree, int entryPoint, int reusedNodes) {}
