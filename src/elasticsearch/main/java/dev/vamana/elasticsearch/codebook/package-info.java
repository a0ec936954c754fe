/**
 * Codebooks that indices share. They are sampled from ingest pipelines or from an index, trained on
 * a node, stored in a system index, and held in every node's memory for the writers of segments.
 */
package dev.vamana.elasticsearch.codebook;
