/**
 * Codebooks that indices share: sampled from ingest pipelines or from an index, trained on a node,
 * kept in a system index, and held in every node's memory for the writers of segments.
 */
package dev.vamana.elasticsearch.codebook;
