/**
 * Vamana graphs: construction by greedy search and robust prune (DiskANN), and views of adjacency
 * rows in native memory and in files.
 */
package dev.vamana.graph;
