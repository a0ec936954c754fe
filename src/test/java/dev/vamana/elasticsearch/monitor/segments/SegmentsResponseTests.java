package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
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
              new FieldSegment.ShardCopy(
                  TestUtil.randomSimpleString(random),
                  random.nextInt(1000),
                  random.nextBoolean(),
                  TestUtil.randomSimpleString(random),
                  TestUtil.randomUnicodeString(random)),
              "_" + Integer.toString(random.nextInt(5000), 36),
              TestUtil.randomUnicodeString(random),
              size(random),
              random.nextInt(4096),
              "l2_norm",
              "float",
              new FieldSegment.Bytes(size(random), size(random), size(random)),
              random.nextBoolean()
                  ? FieldSegment.OnDevice.not("evicted")
                  : new FieldSegment.OnDevice(
                      "exact", "resident", size(random), size(random), size(random), "0,1"),
              random.nextBoolean() ? null : TestUtil.randomSimpleString(random),
              size(random)));
    }
    return rows;
  }

  public void testShardsAnswersSurviveTheWire() throws IOException {
    for (int i = 0; i < 50; i++) {
      SegmentsResponse.OfShard answer = new SegmentsResponse.OfShard(randomRows(random()));
      assertEquals(answer, overTheWire(answer, SegmentsResponse.OfShard::new));
    }
  }

  public void testResponsesSurviveTheWire() throws IOException {
    for (int i = 0; i < 20; i++) {
      List<DefaultShardOperationFailedException> failures =
          random().nextBoolean()
              ? List.of()
              : List.of(
                  new DefaultShardOperationFailedException(
                      "index", 3, new IllegalStateException("closed")));
      SegmentsResponse response =
          new SegmentsResponse(7, 6, failures.size(), failures, randomRows(random()));
      SegmentsResponse read = overTheWire(response, SegmentsResponse::new);
      assertEquals(response.segments(), read.segments());
      assertEquals(7, read.getTotalShards());
      assertEquals(6, read.getSuccessfulShards());
      assertEquals(failures.size(), read.getFailedShards());
      assertEquals(failures.size(), read.getShardFailures().length);
      for (DefaultShardOperationFailedException failure : read.getShardFailures()) {
        assertEquals("index", failure.index());
        assertEquals(3, failure.shardId());
      }
    }
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
