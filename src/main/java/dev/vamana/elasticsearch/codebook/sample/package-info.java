/**
 * Uniform samples of the vectors that ingest pipelines see, one per codebook and node, within a
 * memory limit.
 */
package dev.vamana.elasticsearch.codebook.sample;
