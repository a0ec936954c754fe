package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.action.IndicesRequest;
import org.junit.BeforeClass;

/** Requests for segments and answers on the wire. */
public class SegmentsResponseTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  /** Whoever may see only some indices asks for these only. */
  public void testIndicesCanBeReplaced() {
    SegmentsRequest request = new SegmentsRequest("*");
    ((IndicesRequest.Replaceable) request).indices("mine");
    assertArrayEquals(new String[] {"mine"}, request.indices());
  }
}
