package dev.vamana.elasticsearch.codebook;

import static org.junit.Assert.assertEquals;

import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.node.VersionInformation;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.NamedWriteableAwareStreamInput;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.transport.TransportAddress;

/** Sends messages through bytes. */
public final class Wire {
  private Wire() {}

  /** What arrives of a message. */
  public static <T> T send(
      Writeable message, Writeable.Reader<T> reader, NamedWriteableRegistry.Entry... known)
      throws IOException {
    ServerClasses.ready();
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      message.writeTo(out);
      try (StreamInput in =
          new NamedWriteableAwareStreamInput(
              out.bytes().streamInput(), new NamedWriteableRegistry(List.of(known)))) {
        T read = reader.read(in);
        assertEquals("bytes left over", 0, in.available());
        return read;
      }
    }
  }

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
