/**
 * Segments of Lucene's HNSW formats as an executor searches them. {@code AcceleratedReaders} wraps
 * the readers of a Lucene program; the Elasticsearch plugin wraps readers with {@code
 * StockSegments}. Files are only read: without the wrapper an index opens and answers as before.
 */
package dev.vamana.stock;
