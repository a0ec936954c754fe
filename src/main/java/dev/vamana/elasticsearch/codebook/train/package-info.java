/** When codebooks are trained, from which vectors, and by whom. */
package dev.vamana.elasticsearch.codebook.train;
