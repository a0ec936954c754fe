package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.monitor.recall.Searches;
import dev.vamana.elasticsearch.monitor.recall.Tally;
import dev.vamana.search.DevicePresence;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.TaskId;
import org.junit.BeforeClass;

/** Requests for segments and answers on the wire. */
public class SegmentsResponseTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static <T> T overTheWire(Writeable message, Writeable.Reader<T> reader)
      throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      message.writeTo(out);
      try (StreamInput in = out.bytes().streamInput()) {
        T read = reader.read(in);
        assertEquals("bytes left over", 0, in.available());
        return read;
      }
    }
  }

  private static long size(Random random) {
    return random.nextLong() >>> (1 + random.nextInt(63));
  }

  private static List<FieldSegment> randomRows(Random random) {
    List<FieldSegment> rows = new ArrayList<>();
    for (int i = random.nextInt(5); i > 0; i--) {
      rows.add(
          new FieldSegment(
              new SegmentReport(
                  "_" + Integer.toString(random.nextInt(5000), 36),
                  TestUtil.randomUnicodeString(random),
                  random.nextInt(1 << 30),
                  random.nextBoolean()
                      ? DevicePresence.refused("evicted")
                      : DevicePresence.resident("exact", size(random)),
                  random.nextBoolean() ? List.of() : List.of("_0.vec")),
              random.nextBoolean(),
              random.nextInt(4096),
              "l2_norm",
              size(random),
              size(random),
              size(random),
              random.nextBoolean() ? null : TestUtil.randomSimpleString(random),
              size(random)));
    }
    return rows;
  }

  public void testShardsAnswersSurviveTheWire() throws IOException {
    for (int i = 0; i < 50; i++) {
      SegmentsResponse.OfShard answer =
          new SegmentsResponse.OfShard(
              TestUtil.randomSimpleString(random()),
              random().nextInt(1000),
              random().nextBoolean(),
              TestUtil.randomUnicodeString(random()),
              randomRows(random()),
              Map.of(new Searches("v", 10), new Tally(3, 2.5, 2.1)));
      assertEquals(answer, overTheWire(answer, SegmentsResponse.OfShard::read));
    }
  }

  /** Copies of a field add up, and so does what they measured. */
  public void testSumsOfAnIndex() {
    FieldSegment row =
        new FieldSegment(
            new SegmentReport("_0", "v", 5, DevicePresence.resident("exact", 7), List.of()),
            true,
            4,
            "l2_norm",
            1,
            2,
            3,
            null,
            0);
    SegmentsResponse.OfShard shard =
        new SegmentsResponse.OfShard(
            "i", 0, true, "n", List.of(row), Map.of(new Searches("v", 10), new Tally(2, 1, 1)));
    IndexStats stats =
        new IndexStats(new SegmentsResponse(3, 2, 1, List.of(shard, shard), List.of()));
    Map<?, ?> fields = (Map<?, ?>) ((Map<?, ?>) stats.figures().get("indices")).get("i");
    Map<?, ?> v = (Map<?, ?>) ((Map<?, ?>) fields.get("fields")).get("v");
    assertEquals(Map.of("resident", 2L), v.get("segments"));
    assertEquals(10L, v.get("vectors"));
    assertEquals(
        Map.of("vectors_in_bytes", 2L, "graph_in_bytes", 4L, "codes_in_bytes", 6L), v.get("disk"));
    assertEquals(14L, v.get("device_in_bytes"));
    Map<?, ?> recall = (Map<?, ?>) ((List<?>) v.get("recall")).get(0);
    assertEquals(10, recall.get("k"));
    assertEquals(4L, recall.get("queries"));
    assertEquals(0.5, recall.get("recall"));
  }

  public void testRequestsSurviveTheWire() throws IOException {
    SegmentsRequest request = new SegmentsRequest("a", "b*");
    request.indicesOptions(
        random().nextBoolean() ? IndicesOptions.lenientExpandOpen() : request.indicesOptions());
    request.setParentTask(new TaskId("node", random().nextInt(1000)));
    SegmentsRequest read = overTheWire(request, SegmentsRequest::new);
    assertArrayEquals(request.indices(), read.indices());
    assertEquals(request.indicesOptions(), read.indicesOptions());
    assertEquals(request.getParentTask(), read.getParentTask());
    assertTrue(read.includeDataStreams());
    assertTrue(
        read.createTask(1, "t", "a", request.getParentTask(), Map.of()) instanceof CancellableTask);
  }

  /** Whoever may see only some indices asks for these only. */
  public void testIndicesCanBeReplaced() {
    SegmentsRequest request = new SegmentsRequest("*");
    ((IndicesRequest.Replaceable) request).indices("mine");
    assertArrayEquals(new String[] {"mine"}, request.indices());
  }
}
