/** What an operator of this node should know, said once in the log and kept for the statistics. */
package dev.vamana.elasticsearch.notices;
