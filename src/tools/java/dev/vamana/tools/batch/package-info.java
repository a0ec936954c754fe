/** Compares batched searches with the standard ones on a real node, over HTTP. */
package dev.vamana.tools.batch;
