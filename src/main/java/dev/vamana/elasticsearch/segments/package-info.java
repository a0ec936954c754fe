/** {@code GET /_cat/vamana}: the vector fields of segments on disk and on the device. */
package dev.vamana.elasticsearch.segments;
