/** The ingest processor {@code vamana_train}, and what it has to know about pipelines. */
package dev.vamana.elasticsearch.codebook.ingest;
