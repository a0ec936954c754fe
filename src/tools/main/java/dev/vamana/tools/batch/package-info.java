/** Compares batched searches with standard searches on a real node, over HTTP. */
package dev.vamana.tools.batch;
