/**
 * Requests between nodes: for the states of samples, for sampled vectors, and to reload a codebook.
 */
package dev.vamana.elasticsearch.codebook.nodes;
