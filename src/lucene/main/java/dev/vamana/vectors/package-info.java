/**
 * Access to raw vectors: mapped regions of segment files, and distances between stored vectors
 * computed with Lucene's scorers.
 */
package dev.vamana.vectors;
