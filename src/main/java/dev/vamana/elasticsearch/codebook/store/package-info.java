/** Stored codebooks: the hidden system index {@code .vamana-codebooks} and its documents. */
package dev.vamana.elasticsearch.codebook.store;
