/** The REST endpoints {@code /_vamana/codebooks}. */
package dev.vamana.elasticsearch.codebook.rest;
