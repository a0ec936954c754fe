/** The transport actions behind the REST endpoints of codebooks. */
package dev.vamana.elasticsearch.codebook.action;
