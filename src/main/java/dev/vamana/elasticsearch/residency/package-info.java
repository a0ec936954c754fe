/**
 * The presence of an index's segments on the devices of the nodes that hold it: {@code POST
 * /{index}/_vamana/warmup} and {@code clear_cache}, and the setting {@code index.vamana.warm}.
 */
package dev.vamana.elasticsearch.residency;
