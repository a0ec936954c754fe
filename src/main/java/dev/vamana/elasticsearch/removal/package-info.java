/**
 * The way out: what in a cluster still needs the plugin. Uses {@link
 * dev.vamana.elasticsearch.segments} to find segments.
 */
package dev.vamana.elasticsearch.removal;
