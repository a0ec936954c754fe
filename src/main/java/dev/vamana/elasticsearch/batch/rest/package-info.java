/** REST endpoint of batched searches: parses bodies and writes answers. */
package dev.vamana.elasticsearch.batch.rest;
