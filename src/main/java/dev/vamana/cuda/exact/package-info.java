/**
 * Exact search on the device: distances and selection in one, over all rows or accepted ones
 * (docs/internals/exact-search.md).
 */
package dev.vamana.cuda.exact;
