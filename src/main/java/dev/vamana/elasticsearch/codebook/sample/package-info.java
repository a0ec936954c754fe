/**
 * Uniform samples of the vectors that ingest pipelines see, one a codebook and node, within a bound
 * of memory.
 */
package dev.vamana.elasticsearch.codebook.sample;
