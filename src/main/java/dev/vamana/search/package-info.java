/**
 * Search over one or many segments: the executor seam and its registry, walk parameters, the CPU
 * walks, re-ranking and the batched API.
 */
package dev.vamana.search;
