/** How batched searches come in over HTTP and their answers leave. */
package dev.vamana.elasticsearch.batch.rest;
