/** The ingest processor {@code vamana_train}, and its checks of pipelines. */
package dev.vamana.elasticsearch.codebook.ingest;
