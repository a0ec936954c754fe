package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.monitor.segments.SegmentReport;
import dev.vamana.search.DevicePresence;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.cluster.routing.RecoverySource;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.routing.UnassignedInfo;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.BeforeClass;

/** Requests and responses on the wire and as JSON. */
public class ResidencyMessagesTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static <T> T copy(Writeable message, Writeable.Reader<T> reader) throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      message.writeTo(out);
      try (StreamInput in = out.bytes().streamInput()) {
        T copy = reader.read(in);
        assertEquals("bytes left over", 0, in.available());
        return copy;
      }
    }
  }

  private static Map<String, Object> json(ToXContentObject message) {
    return XContentHelper.convertToMap(JsonXContent.jsonXContent, Strings.toString(message), true);
  }

  private static ShardRouting routing(String index, int shard, boolean primary) {
    return ShardRouting.newUnassigned(
            new ShardId(index, "_na_", shard),
            primary,
            primary
                ? RecoverySource.EmptyStoreRecoverySource.INSTANCE
                : RecoverySource.PeerRecoverySource.INSTANCE,
            new UnassignedInfo(UnassignedInfo.Reason.INDEX_CREATED, "test"),
            ShardRouting.Role.DEFAULT)
        .initialize("node-" + shard, null, 1)
        .moveToStarted(1);
  }

  private static DevicePresence presence(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> DevicePresence.NO_DEVICE;
      case 1 -> DevicePresence.waiting("queued");
      case 2 -> DevicePresence.refused(TestUtil.randomUnicodeString(random) + ".");
      default ->
          DevicePresence.resident(
              TestUtil.randomSimpleString(random), random.nextLong() & (Long.MAX_VALUE >>> 8));
    };
  }

  private static ShardWarmth warmth(Random random) {
    List<SegmentReport> segments = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      segments.add(
          new SegmentReport(
              TestUtil.randomSimpleString(random),
              TestUtil.randomUnicodeString(random),
              random.nextInt(Integer.MAX_VALUE),
              presence(random),
              random.nextBoolean() ? List.of() : List.of("_0.vec", "_0.vex")));
    }
    return new ShardWarmth(
        routing("photos", random.nextInt(9), random.nextBoolean()), segments, random.nextBoolean());
  }

  public void testRequestsSurviveTheWire() throws IOException {
    for (int i = 0; i < 50; i++) {
      WarmupRequest request =
          new WarmupRequest("a", TestUtil.randomSimpleString(random()))
              .uploadTimeout(TimeValue.timeValueMillis(random().nextInt(100_000)))
              .waitForCompletion(random().nextBoolean());
      request.indicesOptions(
          random().nextBoolean() ? IndicesOptions.LENIENT_EXPAND_OPEN : request.indicesOptions());
      WarmupRequest copy = copy(request, WarmupRequest::new);
      assertArrayEquals(request.indices(), copy.indices());
      assertEquals(request.indicesOptions(), copy.indicesOptions());
      assertEquals(request.uploadTimeout(), copy.uploadTimeout());
      assertEquals(request.waitForCompletion(), copy.waitForCompletion());
      assertNull("the transport does not give up", copy.timeout());
      ClearCacheRequest clear =
          copy(new ClearCacheRequest(request.indices()), in -> new ClearCacheRequest(in));
      assertArrayEquals(request.indices(), clear.indices());
    }
  }

  public void testIndicesCanBeReplacedAndTasksCancelled() {
    for (IndicesRequest.Replaceable request :
        List.of(new WarmupRequest("a*"), new ClearCacheRequest("a*"))) {
      request.indices("a1", "a2");
      assertArrayEquals(new String[] {"a1", "a2"}, request.indices());
    }
    WarmupRequest request = new WarmupRequest("a", "b");
    assertTrue(
        request.createTask(1, "t", "a", TaskId.EMPTY_TASK_ID, Map.of()) instanceof CancellableTask);
    assertEquals("indices[a,b], timeout[1m]", request.getDescription());
    assertTrue(
        new ClearCacheRequest("a").createTask(1, "t", "a", TaskId.EMPTY_TASK_ID, Map.of())
            instanceof CancellableTask);
  }

  public void testTimeoutHasARange() {
    WarmupRequest request = new WarmupRequest("a");
    assertNull(request.validate());
    assertNull(request.uploadTimeout(TimeValue.ZERO).validate());
    assertNull(request.uploadTimeout(TimeValue.timeValueHours(1)).validate());
    for (TimeValue wrong : List.of(TimeValue.timeValueMinutes(61), TimeValue.MINUS_ONE)) {
      String message = request.uploadTimeout(wrong).validate().getMessage();
      assertTrue(message, message.contains("[timeout] must be between [0] and [1h]"));
      assertTrue(message, message.contains("[" + wrong + "]"));
    }
  }

  public void testResultsSurviveTheWire() throws IOException {
    for (int i = 0; i < 100; i++) {
      ShardWarmth warmth = warmth(random());
      assertEquals(warmth, copy(warmth, ShardWarmth::read));
      ShardCleared cleared =
          new ShardCleared(
              warmth.routing(),
              random().nextInt(100),
              random().nextLong() & (Long.MAX_VALUE >>> 8));
      assertEquals(cleared, copy(cleared, ShardCleared::read));
      List<DefaultShardOperationFailedException> failures =
          random().nextBoolean()
              ? List.of()
              : List.of(
                  new DefaultShardOperationFailedException(
                      "photos", 1, new IllegalStateException("gone")));
      WarmupResponse response =
          new WarmupResponse(3, 2, failures.size(), List.of(warmth, warmth(random())), failures);
      assertEquals(json(response), json(copy(response, WarmupResponse::new)));
      ClearCacheResponse clear =
          new ClearCacheResponse(1, 1, failures.size(), List.of(cleared), failures);
      assertEquals(json(clear), json(copy(clear, ClearCacheResponse::new)));
    }
  }

  public void testWarmupAsJson() {
    SegmentReport resident =
        new SegmentReport("_0", "v", 12, DevicePresence.resident("exact", 1000), List.of());
    SegmentReport refused =
        new SegmentReport("_1", "v", 3, DevicePresence.refused("damaged"), List.of("_1.vec"));
    WarmupResponse response =
        new WarmupResponse(
            3,
            2,
            1,
            List.of(
                new ShardWarmth(routing("b", 0, false), List.of(refused), true),
                new ShardWarmth(routing("b", 0, true), List.of(resident, refused), false)),
            List.of(
                new DefaultShardOperationFailedException(
                    "b", 1, new IllegalStateException("gone"))));
    Map<String, Object> json = json(response);
    assertEquals(true, json.get("timed_out"));
    assertEquals(1000, json.get("device_in_bytes"));
    assertEquals("of both copies", 2, json.get("damaged_files"));
    assertEquals(
        Map.of("resident", 1, "waiting", 0, "refused", 2, "no_device", 0), json.get("segments"));
    assertEquals(1, ((Map<?, ?>) json.get("_shards")).get("failed"));
    assertTrue(json.toString(), json.toString().contains("gone"));
    Map<?, ?> shards = (Map<?, ?>) at(json, "indices", "b", "shards");
    List<?> copies = (List<?>) shards.get("0");
    assertEquals(2, copies.size());
    assertEquals("primaries first", true, ((Map<?, ?>) copies.get(0)).get("primary"));
    assertEquals("node-0", ((Map<?, ?>) copies.get(0)).get("node"));
    assertEquals(
        List.of(
            Map.of(
                "segment",
                "_0",
                "field",
                "v",
                "vectors",
                12,
                "state",
                "resident",
                "placement",
                "exact",
                "device_in_bytes",
                1000),
            Map.of(
                "segment",
                "_1",
                "field",
                "v",
                "vectors",
                3,
                "state",
                "refused",
                "reason",
                "damaged",
                "damaged_files",
                List.of("_1.vec"))),
        ((Map<?, ?>) copies.get(0)).get("segments"));
  }

  public void testClearCacheAsJson() {
    ClearCacheResponse response =
        new ClearCacheResponse(
            2,
            2,
            0,
            List.of(
                new ShardCleared(routing("b", 1, true), 2, 30),
                new ShardCleared(routing("a", 0, true), 1, 12)),
            List.of());
    Map<String, Object> json = json(response);
    assertEquals(42, json.get("freed_in_bytes"));
    assertEquals(
        List.of(Map.of("node", "node-1", "primary", true, "segments", 2, "freed_in_bytes", 30)),
        at(json, "indices", "b", "shards", "1"));
    assertEquals(Arrays.asList("a", "b"), List.copyOf(((Map<?, ?>) json.get("indices")).keySet()));
  }

  private static Object at(Object json, String... path) {
    Object value = json;
    for (String name : path) {
      value = ((Map<?, ?>) value).get(name);
    }
    return value;
  }
}
