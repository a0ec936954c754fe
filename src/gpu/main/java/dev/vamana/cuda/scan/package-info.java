/**
 * The lane of exact searches: collects waiting queries, and one thread runs them on the device over
 * all or accepted vectors.
 */
package dev.vamana.cuda.scan;
