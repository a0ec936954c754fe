/**
 * The endpoints of batched searches and neighbours: bodies are parsed, answers written in chunks.
 */
package dev.vamana.elasticsearch.rest;
