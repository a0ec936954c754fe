/** Decides when a codebook is trained, from which vectors and by which node; and trains it. */
package dev.vamana.elasticsearch.codebook.train;
