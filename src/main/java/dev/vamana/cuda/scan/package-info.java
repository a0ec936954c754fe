/**
 * Exact searches of resident segments: queries that wait are put together, and one thread has the
 * device compare them with all or with the accepted vectors.
 */
package dev.vamana.cuda.scan;
