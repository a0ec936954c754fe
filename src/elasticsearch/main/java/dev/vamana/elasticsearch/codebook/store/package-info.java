/**
 * Stored codebooks: the hidden system index {@code .vamana-codebooks}, its documents, and how each
 * node comes to know them.
 */
package dev.vamana.elasticsearch.codebook.store;
