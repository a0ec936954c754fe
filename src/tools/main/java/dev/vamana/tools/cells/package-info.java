/**
 * Compares the throughput of our index with the stock one of the same node at equal recall, over
 * HTTP on the CPU: for each set of vectors, number of segments and number of clients.
 */
package dev.vamana.tools.cells;
