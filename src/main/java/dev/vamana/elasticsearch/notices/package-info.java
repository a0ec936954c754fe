/** Notices for the operator of a node, which are logged once and kept for the statistics. */
package dev.vamana.elasticsearch.notices;
