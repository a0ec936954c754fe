/** Batched searches: nearest neighbours of many query vectors in one request. */
package dev.vamana.elasticsearch.batch;
