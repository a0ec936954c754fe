/**
 * Search over one or many segments: the executor interface and its registry, walk parameters, CPU
 * walks, re-ranking and the batched API.
 */
package dev.vamana.search;
