package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.wire.WireVersion;
import dev.vamana.search.WalkChange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.elasticsearch.action.OriginalIndices;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.cluster.routing.SplitShardCountSummary;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.NamedWriteableAwareStreamInput;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.MatchAllQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.index.query.RangeQueryBuilder;
import org.elasticsearch.index.query.TermQueryBuilder;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.junit.BeforeClass;
import org.junit.Test;

/** Everything that travels between nodes for a batched search arrives as it was sent. */
public class WireTests {
  private static final NamedWriteableRegistry NAMES =
      new NamedWriteableRegistry(
          Stream.concat(
                  Stream.of(
                      query(MatchAllQueryBuilder.NAME, MatchAllQueryBuilder::new),
                      query(RangeQueryBuilder.NAME, RangeQueryBuilder::new),
                      query(TermQueryBuilder.NAME, TermQueryBuilder::new)),
                  SearchActions.namedWriteables().stream())
              .toList());

  private final Random random = new Random(17);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static NamedWriteableRegistry.Entry query(
      String name, Writeable.Reader<? extends QueryBuilder> reader) {
    return new NamedWriteableRegistry.Entry(QueryBuilder.class, name, reader);
  }

  private static <T> T copy(Writeable sent, Writeable.Reader<T> reader) throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      sent.writeTo(out);
      try (StreamInput in = new NamedWriteableAwareStreamInput(out.bytes().streamInput(), NAMES)) {
        T received = reader.read(in);
        assertEquals(-1, in.read());
        if (received instanceof Writeable again) {
          try (BytesStreamOutput second = new BytesStreamOutput()) {
            again.writeTo(second);
            assertEquals(out.bytes(), second.bytes());
          }
        }
        return received;
      }
    }
  }

  private QueryVectors floats(int count, int dims) {
    float[][] vectors = new float[count][dims];
    for (float[] vector : vectors) {
      for (int d = 0; d < dims; d++) {
        vector[d] = Float.intBitsToFloat(random.nextInt());
      }
    }
    return QueryVectors.ofFloats(vectors);
  }

  private QueryVectors bytes(int count, int dims) {
    byte[][] vectors = new byte[count][dims];
    for (byte[] vector : vectors) {
      random.nextBytes(vector);
    }
    return QueryVectors.ofBytes(vectors);
  }

  @Test
  public void testVectors() throws IOException {
    for (int i = 0; i < 20; i++) {
      QueryVectors sent =
          i % 2 == 0
              ? floats(random.nextInt(5), 1 + random.nextInt(40))
              : bytes(random.nextInt(5), 1 + random.nextInt(40));
      QueryVectors received = copy(sent, QueryVectors::readFrom);
      assertEquals(sent, received);
      assertEquals(sent.hashCode(), received.hashCode());
      assertEquals(sent.ramBytesUsed(), received.ramBytesUsed());
    }
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      QueryVectors.ofFloats(new float[][] {{1f}}).writeTo(out);
      byte[] wire = BytesReference.toBytes(out.bytes());
      assertArrayEquals(new byte[] {1, 1, 1, 0, 0, (byte) 0x80, 0x3f}, wire);
    }
  }

  /** A message of some bytes must not make a node take memory for what it only announces. */
  @Test
  public void testVectorsThatAreAnnouncedButNotSent() throws IOException {
    int[][] announced = {{1 << 20, 4096}, {2, 5}, {-1, 3}, {3, -1}, {7, 0}, {1 << 30, 1 << 30}};
    for (int kind = 0; kind < 2; kind++) {
      for (int[] shape : announced) {
        try (BytesStreamOutput out = new BytesStreamOutput()) {
          out.writeBoolean(kind == 0);
          out.writeVInt(shape[0]);
          out.writeVInt(shape[1]);
          out.writeBytes(new byte[9]);
          IOException e =
              assertThrows(
                  IOException.class, () -> QueryVectors.readFrom(out.bytes().streamInput()));
          assertTrue(e.getMessage(), e.getMessage().contains("[9] bytes left"));
        }
      }
    }
  }

  private static ShardTarget target() {
    return new ShardTarget(
        2,
        new ShardId("i", "uuid", 3),
        new OriginalIndices(new String[] {"alias"}, IndicesOptions.strictExpandOpen()),
        AliasFilter.of(QueryBuilders.termQuery("t", 1), "alias"),
        SplitShardCountSummary.UNSET);
  }

  private static ShardSearchContextId reader() {
    return new ShardSearchContextId("session", 42, "searcher");
  }

  @Test
  public void testShardRequests() throws IOException {
    List<QueryBuilder> filters = new ArrayList<>();
    filters.add(QueryBuilders.termQuery("color", "red"));
    filters.add(null);
    filters.add(QueryBuilders.termQuery("color", "red"));
    QueryFilters grouped = QueryFilters.of(filters);
    assertEquals(2, grouped.distinct().size());
    assertArrayEquals(new int[] {0, 1, 0}, grouped.groupOf());
    ShardQuery query =
        new ShardQuery(
            "v",
            bytes(3, 4),
            5,
            50,
            grouped,
            0.25f,
            new WalkChange(200, 4, 64),
            true,
            TimeValue.timeValueMillis(9),
            false,
            1234L);
    FetchSpec fetch =
        new FetchSpec(
            false, FetchSourceContext.FETCH_SOURCE, List.of(new FieldAndFormat("f", null)));
    NodeQueryRequest received =
        copy(
            new NodeQueryRequest(query, List.of(target(), target()), 4, fetch),
            NodeQueryRequest::new);
    assertEquals(2, received.shards().size());
    for (ShardTarget shard : received.shards()) {
      assertEquals(2, shard.number());
      assertEquals(new ShardId("i", "uuid", 3), shard.shardId());
      assertEquals(target().aliasFilter(), shard.aliasFilter());
    }
    assertEquals(4, received.mostTogether());
    assertArrayEquals(new String[] {"alias"}, received.indices());
    assertEquals(IndicesOptions.strictExpandOpen(), received.indicesOptions());
    assertEquals("v", received.query().field());
    assertEquals(query.vectors(), received.query().vectors());
    assertEquals(query.walk(), received.query().walk());
    assertEquals(grouped.distinct(), received.query().filters().distinct());
    assertEquals(1, received.query().filters().group(1));
    assertEquals(query.timeout(), received.query().timeout());
    assertEquals(fetch, received.fetch());
    NodeQueryRequest several = new NodeQueryRequest(query, List.of(target()), 5, null);
    assertNull(copy(several, NodeQueryRequest::new).fetch());

    ShardFetchRequest docs =
        copy(
            new ShardFetchRequest(
                target(), reader(), new int[] {1, 5, 9}, fetch, 77L, BatchInLog.numbers(query)),
            ShardFetchRequest::new);
    assertEquals(reader(), docs.reader());
    assertArrayEquals(new int[] {1, 5, 9}, docs.docs());
    assertEquals(fetch, docs.fetch());
    assertEquals(77L, docs.nowMillis());
    assertEquals(BatchInLog.numbers(query), docs.batch());
  }

  @Test
  public void testShardResponses() throws IOException {
    Hits hits =
        new Hits(
            new int[] {2, 2, 3},
            new int[] {0, 4, 0},
            new int[] {7, 1, 7},
            new float[] {3f, 2f, 1f});
    FetchedDocs.Content content =
        new FetchedDocs.Content(
            new BytesArray("{\"a\":1}"),
            Map.of("f", new DocumentField("f", List.of(1, 2))),
            Map.of("_routing", new DocumentField("_routing", List.of("r"))));
    FetchedDocs.Content empty = new FetchedDocs.Content(null, Map.of(), Map.of());
    FetchedDocs docs =
        new FetchedDocs(new String[] {"x", "y"}, new FetchedDocs.Content[] {content, empty});
    NodeQueryResponse.Outcome searched =
        new NodeQueryResponse.Outcome(
            reader(), true, true, new ShardProfile("gpu", 3, 4, 5, 6, 7), null);
    NodeQueryResponse.Outcome failed =
        NodeQueryResponse.Outcome.failed(new IllegalArgumentException("bad"));
    NodeQueryResponse received =
        copy(new NodeQueryResponse(hits, List.of(searched, failed), docs), NodeQueryResponse::new);
    assertArrayEquals(hits.ends(), received.hits().ends());
    assertArrayEquals(hits.docs(), received.hits().docs());
    assertArrayEquals(hits.scores(), received.hits().scores(), 0);
    assertArrayEquals(hits.shards(), received.hits().shards());
    assertEquals(searched, received.outcomes().get(0));
    assertNull(received.outcomes().get(1).reader());
    assertEquals("bad", received.outcomes().get(1).failure().getMessage());
    assertArrayEquals(docs.ids(), received.fetched().ids());
    assertEquals(Arrays.asList(docs.contents()), Arrays.asList(received.fetched().contents()));
    ShardFetchRequest.Response ids =
        copy(
            new ShardFetchRequest.Response(new FetchedDocs(new String[] {"x"}, null)),
            ShardFetchRequest.Response::new);
    assertNull(ids.fetched().contents());
  }

  @Test
  public void testProgress() throws IOException {
    BatchSearchTask task = new BatchSearchTask(1, "t", "a", "d", TaskId.EMPTY_TASK_ID, Map.of());
    task.start(10, 3);
    task.advance(4);
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      task.getStatus().writeTo(out);
      assertEquals(WireVersion.CURRENT, out.bytes().streamInput().readVInt());
    }
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      out.writeNamedWriteable(task.getStatus());
      try (StreamInput in = new NamedWriteableAwareStreamInput(out.bytes().streamInput(), NAMES)) {
        Task.Status received = in.readNamedWriteable(Task.Status.class);
        assertEquals(task.getStatus(), received);
        assertEquals(
            "{\"vectors\":10,\"shards\":3,\"done\":4,\"total\":30}", Strings.toString(received));
      }
    }
  }
}
