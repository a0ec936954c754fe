/**
 * Batching on the device: packing requests into pinned memory, and the lane that launches walks.
 */
package dev.vamana.cuda.batch;
