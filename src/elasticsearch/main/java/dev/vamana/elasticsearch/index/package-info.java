/**
 * What the plugin changes in an index: its settings and their checks, engine, codec and merge
 * policy.
 */
package dev.vamana.elasticsearch.index;
