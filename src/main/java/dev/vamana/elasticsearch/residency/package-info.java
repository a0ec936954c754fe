/**
 * Which segments of an index lie on the devices of the nodes that hold it: {@code POST
 * /{index}/_vamana/warmup} and {@code clear_cache}, and {@code index.vamana.warm}.
 */
package dev.vamana.elasticsearch.residency;
