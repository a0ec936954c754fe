/**
 * The Elasticsearch plugin: index settings, and the engine factory that has an opted-in index write
 * its {@code dense_vector} fields with {@link dev.vamana.codec.VamanaVectorsFormat}.
 */
package dev.vamana.elasticsearch;
