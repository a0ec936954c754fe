/**
 * Product quantization on the CPU: subspaces, codebook training, codes and distance tables.
 *
 * <p>A vector of {@code dims} floats is divided into {@code m} subspaces; each sub-vector is
 * replaced by the ordinal of the nearest of the subspace's 256 centroids. A code is therefore
 * {@code m} bytes. At search time a {@link dev.vamana.pq.DistanceTable} holds the distance of every
 * centroid to the query, and the asymmetric distance of a code is the sum of {@code m} table
 * entries.
 *
 * <p>Of the project, the package depends only on {@code dev.vamana.work}. The design and its
 * reasons are in docs/internals/pq.md.
 */
package dev.vamana.pq;
