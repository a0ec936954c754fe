/**
 * Views over raw vectors: mapped regions of segment files, and distances between stored vectors
 * computed through Lucene's own scorers.
 */
package dev.vamana.vectors;
