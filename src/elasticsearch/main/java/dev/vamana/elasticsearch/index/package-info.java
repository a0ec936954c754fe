/**
 * Changes to an index that the plugin makes: settings and their checks, engine, codec and merge
 * policy.
 */
package dev.vamana.elasticsearch.index;
