/** What asks every copy of the shards of some indices, and reads them. */
package dev.vamana.elasticsearch.shards;
