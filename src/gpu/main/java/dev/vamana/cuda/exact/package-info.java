/**
 * Exact search on the device over all rows or accepted rows, with selection in the same launches
 * (docs/internals/exact-search.md).
 */
package dev.vamana.cuda.exact;
