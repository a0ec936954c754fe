/**
 * Product quantization on the CPU: subspaces, codebook training, codes and distance tables.
 *
 * <p>A vector of {@code dims} floats is cut into {@code m} subspaces; each sub-vector is replaced
 * by the ordinal of the nearest of the subspace's 256 centroids. A code is therefore {@code m}
 * bytes. At search time a {@link dev.vamana.pq.DistanceTable} holds the distance of every centroid
 * to the query, and the asymmetric distance of a code is the sum of {@code m} table entries.
 *
 * <p>Everything here works on heap arrays and has no dependency on other packages of the project.
 * The design, its reasons and its measurements are in {@code docs/internals/pq.md}.
 */
package dev.vamana.pq;
