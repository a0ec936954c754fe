/**
 * {@code GET /_cat/vamana}: the vector fields of segments on disk and on the device. {@code GET
 * /_vamana/removal}: what in a cluster still needs the plugin.
 */
package dev.vamana.elasticsearch.monitor.segments;
