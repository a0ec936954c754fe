/**
 * Vamana graphs: construction by greedy search and robust prune (DiskANN), and views of adjacency
 * rows on the heap and in files.
 */
package dev.vamana.graph;
