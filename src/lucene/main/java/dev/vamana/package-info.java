/**
 * Vamana graphs and product quantization for Lucene and Elasticsearch.
 *
 * <p>A query passes through the packages in this order: {@code elasticsearch}, {@code codec},
 * {@code search}, then {@code graph} and {@code pq}, which stand on {@code vectors}. Each package
 * depends only on those after it.
 */
package dev.vamana;
