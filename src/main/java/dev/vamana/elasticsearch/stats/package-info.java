/** {@code GET /_vamana/stats}: what the nodes' executors have done, over REST and transport. */
package dev.vamana.elasticsearch.stats;
