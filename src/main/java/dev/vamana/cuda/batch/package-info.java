/**
 * Batching on the device: packing requests into pinned memory, the dispatcher thread that owns all
 * launches, and results.
 */
package dev.vamana.cuda.batch;
