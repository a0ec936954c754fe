/**
 * Benchmark of vector indexes side by side in one JVM: build cost, size, and recall@10 against
 * queries per CPU second.
 */
package dev.vamana.tools.benchmark;
