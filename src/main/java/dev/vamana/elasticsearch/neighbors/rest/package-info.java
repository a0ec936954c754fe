/** The endpoint of the k-NN graph. */
package dev.vamana.elasticsearch.neighbors.rest;
