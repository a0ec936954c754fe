/**
 * Uniform samples of the vectors that ingest pipelines see, one per codebook and node, within a
 * memory limit: the ingest processor {@code vamana_train} and what it feeds.
 */
package dev.vamana.elasticsearch.codebook.sample;
