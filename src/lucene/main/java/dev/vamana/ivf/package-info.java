/**
 * Inverted lists with RaBitQ codes: rotation, codes, training of centroids, and what one query asks
 * of the lists. docs/internals/ivf.md describes the design.
 */
package dev.vamana.ivf;
