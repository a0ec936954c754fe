/** Training of codebooks: when it starts, from which vectors, and on which node. */
package dev.vamana.elasticsearch.codebook.train;
