/**
 * Reports about a node for operators: damaged files and other trouble, and the broadcast to copies
 * of shards.
 */
package dev.vamana.elasticsearch.monitor;
