package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.elasticsearch.codebook.Wire;
import java.io.IOException;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** What nodes ask of each other arrives as it was sent. */
public class ReloadCodebookActionTests extends LuceneTestCase {

  public void testMessages() throws IOException {
    String name = TestUtil.randomUnicodeString(random());
    ReloadCodebookAction.OfNode sent = new ReloadCodebookAction.OfNode(name);
    assertEquals(name, Wire.send(sent, ReloadCodebookAction.OfNode::new).name);
    ReloadCodebookAction.Answer answer =
        Wire.send(
            new ReloadCodebookAction.Answer(Wire.node("b")),
            in -> new ReloadCodebookAction.Answer(in, null));
    assertEquals("b", answer.getNode().getId());
  }
}
