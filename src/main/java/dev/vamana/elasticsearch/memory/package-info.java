/** The circuit breaker of host memory that is pinned for batches on the device. */
package dev.vamana.elasticsearch.memory;
