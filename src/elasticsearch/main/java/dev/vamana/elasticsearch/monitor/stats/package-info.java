/** {@code GET /_vamana/nodes/stats}: statistics of the nodes, over REST and transport. */
package dev.vamana.elasticsearch.monitor.stats;
