/**
 * Vamana graphs: construction by greedy search and robust prune (DiskANN), and views over adjacency
 * rows wherever they lie.
 */
package dev.vamana.graph;
