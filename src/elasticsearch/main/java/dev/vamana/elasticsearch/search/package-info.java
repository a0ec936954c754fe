/**
 * Batched searches, nearest neighbours of many query vectors in one request, and what the settings
 * of an index change in its walks.
 */
package dev.vamana.elasticsearch.search;
