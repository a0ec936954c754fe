/** Batched searches: nearest neighbours of many query vectors with one request. */
package dev.vamana.elasticsearch.batch;
