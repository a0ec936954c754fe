/**
 * Vector sets for tests, the demo and the benchmark: readers of TexMex and NumPy files, exact
 * ground truth, and recall without penalty for ties.
 */
package dev.vamana.tools.datasets;
