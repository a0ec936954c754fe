package dev.vamana.elasticsearch.codebook;

import static org.junit.Assert.assertEquals;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.node.VersionInformation;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.NamedWriteableAwareStreamInput;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.transport.TransportAddress;

/** Sends messages through bytes, and makes random parts of them. */
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

  /** Any space of vectors. */
  public static VectorSpace randomSpace(Random random) {
    VectorSpace.Similarity[] all = VectorSpace.Similarity.values();
    return new VectorSpace(1 + random.nextInt(4_096), all[random.nextInt(all.length)]);
  }

  /** Any options. */
  public static SampleOptions randomOptions(Random random) {
    VectorSpace space = randomSpace(random);
    return new SampleOptions(
        space,
        random.nextInt(1 + Math.min(256, space.dims())),
        TestUtil.nextInt(random, 256, 1 << 20),
        TestUtil.nextInt(random, 256, Integer.MAX_VALUE));
  }

  /** Any status. */
  public static SampleStatus randomStatus(Random random) {
    long[] counts = random.longs(8, 0, Long.MAX_VALUE).toArray();
    return new SampleStatus(
        TestUtil.randomUnicodeString(random),
        randomOptions(random),
        counts[0],
        counts[1],
        counts[2],
        counts[3],
        counts[4],
        counts[5],
        counts[6],
        counts[7]);
  }
}
