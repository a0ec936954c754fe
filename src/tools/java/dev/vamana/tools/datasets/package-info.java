/**
 * Vector sets for tests, the demo and the benchmark: readers of TexMex and NumPy files, exact
 * ground truth and tie-safe recall.
 */
package dev.vamana.tools.datasets;
