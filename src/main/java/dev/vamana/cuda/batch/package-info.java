/**
 * Batches on the device: pinned memory that requests are written into, the thread that owns all
 * launches, and what comes back.
 */
package dev.vamana.cuda.batch;
