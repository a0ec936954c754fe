/**
 * The GPU of a node: settings, devices and the breaker of pinned memory, and the presence of
 * segments on the devices, which {@code POST /{index}/_vamana/warmup} and {@code clear_cache}
 * change.
 */
package dev.vamana.elasticsearch.gpu;
