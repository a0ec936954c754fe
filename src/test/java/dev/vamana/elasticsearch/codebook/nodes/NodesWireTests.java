package dev.vamana.elasticsearch.codebook.nodes;

import dev.vamana.elasticsearch.codebook.Wire;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** What nodes ask of each other arrives as it was sent. */
public class NodesWireTests extends LuceneTestCase {

  public void testSamples() throws IOException {
    for (int i = 0; i < 50; i++) {
      List<SampleStatus> samples = new ArrayList<>();
      for (int n = random().nextInt(4); n > 0; n--) {
        samples.add(Wire.randomStatus(random()));
      }
      NodeSamples sent = new NodeSamples(Wire.node("a"), samples);
      NodeSamples read = Wire.send(sent, in -> new NodeSamples(in, null));
      assertEquals(samples, read.samples());
      assertEquals("a", read.getNode().getId());
      assertNotNull(Wire.send(new SamplesRequest.OfNode(), SamplesRequest.OfNode::new));
    }
  }

  public void testRows() throws IOException {
    for (int i = 0; i < 50; i++) {
      SampleOptions options = Wire.randomOptions(random());
      String name = TestUtil.randomUnicodeString(random());
      long seed = random().nextLong();
      int from = random().nextInt(1_000);
      RowsRequest request = new RowsRequest("a", name, options, seed, from, from + i);
      assertArrayEquals(new String[] {"a"}, request.nodesIds());
      RowsRequest.OfNode read = Wire.send(request.ofNode(), RowsRequest.OfNode::new);
      assertEquals(name, read.name());
      assertEquals(options, read.options());
      assertEquals(seed, read.seed());
      assertEquals(from, read.from());
      assertEquals(from + i, read.to());
      List<float[]> rows = new ArrayList<>();
      for (int n = 0; n < i; n++) {
        rows.add(new float[] {random().nextFloat(), n});
      }
      NodeRows answer = Wire.send(new NodeRows(Wire.node("a"), rows), in -> new NodeRows(in, null));
      assertEquals(i, answer.rows().size());
      for (int n = 0; n < i; n++) {
        assertArrayEquals(rows.get(n), answer.rows().get(n), 0f);
      }
    }
  }

  public void testReload() throws IOException {
    String name = TestUtil.randomUnicodeString(random());
    NamedNodesRequest.OfNode sent = new NamedNodesRequest(name).ofNode();
    assertEquals(name, Wire.send(sent, NamedNodesRequest.OfNode::new).name());
    TransportReloadAction.Reloaded answer =
        Wire.send(
            new TransportReloadAction.Reloaded(Wire.node("b")),
            in -> new TransportReloadAction.Reloaded(in, null));
    assertEquals("b", answer.getNode().getId());
  }
}
