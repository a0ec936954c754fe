/**
 * The suite's stage with an Elasticsearch node: REST searches of many clients, answered by the
 * plugin and by stock indices of the same node, and where the node's processor time goes.
 */
package dev.vamana.tools.gpu.node;
