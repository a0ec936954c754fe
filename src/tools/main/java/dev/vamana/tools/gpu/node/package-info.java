/**
 * The suite's measurements of an Elasticsearch node: REST searches of many clients on the plugin's
 * and stock indices of one node, and the breakdown of the node's processor time.
 */
package dev.vamana.tools.gpu.node;
