/** Limits of host memory: what is pinned for batches on the device, and what builds use. */
package dev.vamana.elasticsearch.memory;
