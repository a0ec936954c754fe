/**
 * The Elasticsearch plugin: its settings, and the engine factory that makes opted-in indices write
 * their {@code dense_vector} fields with {@link dev.vamana.codec.VamanaVectorsFormat}.
 */
package dev.vamana.elasticsearch;
