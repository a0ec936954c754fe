/** {@code GET /_cat/vamana}: the vector fields of segments, and where they lie. */
package dev.vamana.elasticsearch.segments;
