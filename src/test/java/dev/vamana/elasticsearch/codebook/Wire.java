package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.ServerClasses;
import java.net.InetAddress;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.node.VersionInformation;
import org.elasticsearch.common.transport.TransportAddress;

/** Nodes of a name. */
public final class Wire {
  private Wire() {}

  /** A node of this name. */
  public static DiscoveryNode node(String id) {
    ServerClasses.ready();
    return new DiscoveryNode(
        id,
        id,
        new TransportAddress(InetAddress.getLoopbackAddress(), 9300),
        Map.of(),
        Set.of(),
        VersionInformation.CURRENT);
  }
}
