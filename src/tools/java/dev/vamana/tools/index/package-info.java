/** Lucene indexes of tools and tests. */
package dev.vamana.tools.index;
