/**
 * What nodes ask of each other: how far samples are, their vectors, and to read a codebook anew.
 */
package dev.vamana.elasticsearch.codebook.nodes;
