package dev.vamana.graph;

/**
 * A finished graph on the heap.
 *
 * @param rows the adjacency rows, each of at most the max degree
 * @param maxDegree most neighbours of a row
 * @param entryPoint ordinal that searches start from, the medoid; every node can be reached from it
 * @param reusedNodes how many nodes came from an existing graph instead of being inserted anew
 */
public record VamanaGraph(Adjacency rows, int maxDegree, int entryPoint, int reusedNodes) {}
