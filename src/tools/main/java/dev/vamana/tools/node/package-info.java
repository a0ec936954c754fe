/**
 * A real, modular Elasticsearch node with entitlements on, assembled from Maven Central jars.
 *
 * <p>{@link dev.vamana.tools.node.NodeHome} lays out the home folder, {@link
 * dev.vamana.tools.node.RunningNode} is the started process and {@link
 * dev.vamana.tools.node.NodeClient} talks to it over HTTP. None of it is part of a release.
 */
package dev.vamana.tools.node;
