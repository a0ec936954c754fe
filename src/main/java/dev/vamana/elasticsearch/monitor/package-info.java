/**
 * What tells operators of a node: damaged files, notices, and the broadcast to copies of shards.
 */
package dev.vamana.elasticsearch.monitor;
