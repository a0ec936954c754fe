/** Base classes of the actions that ask every copy of the shards of some indices. */
package dev.vamana.elasticsearch.shards;
