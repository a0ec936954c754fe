/**
 * The k-NN graph of an index, {@code POST /{index}/_vamana/neighbors}: the nearest documents of
 * every document, found by batched searches and written to another index.
 */
package dev.vamana.elasticsearch.search.neighbors;
