/** The circuit breaker of the host memory that is pinned for batches on the device. */
package dev.vamana.elasticsearch.memory;
