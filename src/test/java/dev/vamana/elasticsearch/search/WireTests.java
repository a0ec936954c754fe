package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.WalkChange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.lucene.search.TotalHits;
import org.elasticsearch.action.OriginalIndices;
import org.elasticsearch.action.search.ShardSearchFailure;
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
import org.elasticsearch.common.xcontent.ChunkedToXContentObject;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.MatchAllQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.index.query.RangeQueryBuilder;
import org.elasticsearch.index.query.TermQueryBuilder;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.SearchShardTarget;
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
                  BatchActions.namedWriteables().stream())
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

  @Test
  public void testRequest() throws IOException {
    BatchSearchRequest plain = copy(new BatchSearchRequest(), BatchSearchRequest::new);
    assertEquals(0, plain.indices().length);
    assertEquals(10, plain.k());
    assertEquals(15, plain.numCandidates());
    assertNull(plain.vectors());
    assertNull(plain.allowPartialSearchResults());
    assertEquals(5, plain.maxConcurrentShardRequests());

    List<QueryBuilder> filters = new ArrayList<>();
    filters.add(QueryBuilders.termQuery("color", "red"));
    filters.add(null);
    BatchSearchRequest sent =
        new BatchSearchRequest("a", "b*")
            .indicesOptions(IndicesOptions.lenientExpandOpen())
            .field("v")
            .vectors(floats(2, 3))
            .k(7)
            .numCandidates(70)
            .filters(filters)
            .similarity(0.5f)
            .source(FetchSourceContext.of(true, new String[] {"x"}, new String[] {"y"}))
            .fields(List.of(new FieldAndFormat("f", null), new FieldAndFormat("g", "epoch")))
            .routing("r,s")
            .preference("_local")
            .timeout(TimeValue.timeValueSeconds(3))
            .allowPartialSearchResults(false)
            .maxConcurrentShardRequests(3);
    sent.setParentTask(new TaskId("node", 5));
    BatchSearchRequest received = copy(sent, BatchSearchRequest::new);
    assertArrayEquals(sent.indices(), received.indices());
    assertEquals(sent.indicesOptions(), received.indicesOptions());
    assertEquals("v", received.field());
    assertEquals(sent.vectors(), received.vectors());
    assertEquals(7, received.k());
    assertEquals(70, received.numCandidates());
    assertEquals(filters, received.filters());
    assertEquals(sent.similarity(), received.similarity());
    assertEquals(sent.source(), received.source());
    assertEquals(sent.fields(), received.fields());
    assertEquals("r,s", received.routing());
    assertEquals("_local", received.preference());
    assertEquals(sent.timeout(), received.timeout());
    assertEquals(false, received.allowPartialSearchResults());
    assertEquals(3, received.maxConcurrentShardRequests());
    assertFalse(received.columnar());
    assertTrue(copy(sent.columnar(true), BatchSearchRequest::new).columnar());
    assertFalse(received.profile());
    assertTrue(copy(sent.profile(true), BatchSearchRequest::new).profile());
    assertFalse(received.exact());
    assertTrue(copy(sent.exact(true), BatchSearchRequest::new).exact());
    assertEquals(sent.getDescription(), received.columnar(true).getDescription());
    assertEquals(new TaskId("node", 5), received.getParentTask());
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
                target(), reader(), new int[] {1, 5, 9}, fetch, 77L, BatchSummary.of(query)),
            ShardFetchRequest::new);
    assertEquals(reader(), docs.reader());
    assertArrayEquals(new int[] {1, 5, 9}, docs.docs());
    assertEquals(fetch, docs.fetch());
    assertEquals(77L, docs.nowMillis());
    assertEquals(BatchSummary.of(query).withoutFilters(), docs.batch());
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
        new FetchedDocs(DocIds.of("x", "y"), new FetchedDocs.Content[] {content, empty});
    NodeQueryResponse.Outcome searched =
        new NodeQueryResponse.Outcome(
            reader(), true, true, new ShardProfile("gpu", 3, 4, 5, 6, 7), null);
    NodeQueryResponse.Outcome failed =
        NodeQueryResponse.Outcome.failed(new IllegalArgumentException("bad"));
    NodeQueryResponse received =
        copy(
            new NodeQueryResponse(hits, List.of(searched, failed), docs), NodeQueryResponse::new);
    assertArrayEquals(hits.ends(), received.hits().ends());
    assertArrayEquals(hits.docs(), received.hits().docs());
    assertArrayEquals(hits.scores(), received.hits().scores(), 0);
    assertArrayEquals(hits.shards(), received.hits().shards());
    assertEquals(searched, received.outcomes().get(0));
    assertNull(received.outcomes().get(1).reader());
    assertEquals("bad", received.outcomes().get(1).failure().getMessage());
    assertEquals(2, received.fetched().ids().size());
    assertEquals("x", received.fetched().ids().get(0));
    assertEquals("y", received.fetched().ids().get(1));
    assertEquals(Arrays.asList(docs.contents()), Arrays.asList(received.fetched().contents()));
    ShardFetchRequest.Response ids =
        copy(
            new ShardFetchRequest.Response(new FetchedDocs(DocIds.of("x"), null)),
            ShardFetchRequest.Response::new);
    assertNull(ids.fetched().contents());
  }

  @Test
  public void testResponses() throws IOException {
    SearchShardTarget target = new SearchShardTarget("node", new ShardId("i", "uuid", 0), null);
    SearchHit hit = SearchHit.unpooled(3, "x");
    hit.score(0.5f);
    hit.shard(target);
    hit.sourceRef(new BytesArray("{\"a\":1}"));
    SearchHits some =
        new SearchHits(new SearchHit[] {hit}, new TotalHits(1, TotalHits.Relation.EQUAL_TO), 0.5f);
    SearchHits none =
        new SearchHits(new SearchHit[0], new TotalHits(0, TotalHits.Relation.EQUAL_TO), Float.NaN);
    ShardSearchFailure failure =
        new ShardSearchFailure(new IllegalArgumentException("bad"), target);
    assertSameText(
        """
        {"took":12,"timed_out":true,"_shards":{"total":3,"successful":2,"skipped":0,"failed":1,\
        "failures":[{"shard":0,"index":"i","node":"node","reason":{"type":\
        "illegal_argument_exception","reason":"bad"}}]},"responses":[{"hits":{"total":{"value":1,\
        "relation":"eq"},"max_score":0.5,"hits":[{"_index":"i","_id":"x","_score":0.5,"_source":\
        {"a":1}}]}},{"hits":{"total":{"value":0,"relation":"eq"},"max_score":null,"hits":[]}}]}\
        """,
        new StandardHits(List.of(some, none)),
        failure);
    ColumnarHits columns =
        new ColumnarHits(
            new int[] {2, 2, 3},
            DocIds.of("y", "z", "x"),
            new int[] {2, 0, 1},
            new float[] {3f, 2f, 1f},
            new String[] {"i", "j"},
            new int[] {0, 1, 0});
    assertSameText(
        """
        {"took":12,"timed_out":true,"_shards":{"total":3,"successful":3,"skipped":0,"failed":0},\
        "ids":[["x","y"],[],["z"]],"scores":[[3.0,2.0],[],[1.0]],\
        "_index":[["i","j"],[],["i"]]}\
        """,
        columns);
    assertSameText(
        """
        {"took":12,"timed_out":true,"_shards":{"total":3,"successful":3,"skipped":0,"failed":0},\
        "ids":[["x"]],"scores":[[3.0]]}\
        """,
        new ColumnarHits(
            new int[] {1}, DocIds.of("x"), new int[] {0}, new float[] {3f}, null, null));
  }

  private static void assertSameText(
      String expected, BatchHits hits, ShardSearchFailure... failures) throws IOException {
    List<String> released = new ArrayList<>();
    BatchSearchResponse sent =
        new BatchSearchResponse(
            TimeValue.timeValueMillis(12),
            true,
            new BatchSearchResponse.Shards(3, 3 - failures.length, 0, failures),
            hits,
            () -> released.add("breaker"));
    assertEquals(expected, text(sent));
    BatchSearchResponse received = copy(sent, BatchSearchResponse::readFrom);
    assertEquals(expected, text(received));
    assertEquals(RestStatus.OK, received.status());
    received.decRef();
    assertTrue(sent.hasReferences());
    sent.decRef();
    assertFalse(sent.hasReferences());
    assertEquals(List.of("breaker"), released);
  }

  private static String text(BatchSearchResponse response) {
    return Strings.toString(ChunkedToXContentObject.wrapAsToXContentObject(response));
  }

  @Test
  public void testProgress() throws IOException {
    BatchSearchTask task = new BatchSearchTask(1, "t", "a", "d", TaskId.EMPTY_TASK_ID, Map.of());
    task.start(10, 3);
    task.advance(4);
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
