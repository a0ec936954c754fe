/** Codecs of Lucene indexes that tools and tests write. */
package dev.vamana.tools.index;
