/** What the actions that ask every copy of the shards of some indices have in common. */
package dev.vamana.elasticsearch.shards;
