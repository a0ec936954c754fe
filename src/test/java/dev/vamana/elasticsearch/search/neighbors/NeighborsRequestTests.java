package dev.vamana.elasticsearch.search.neighbors;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.NamedWriteableAwareStreamInput;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.index.query.TermQueryBuilder;
import org.junit.BeforeClass;
import org.junit.Test;

/** Requests for neighbours: what travels, what is checked, and which search a batch is. */
public class NeighborsRequestTests {
  private static final NamedWriteableRegistry NAMES =
      new NamedWriteableRegistry(
          List.of(
              new NamedWriteableRegistry.Entry(
                  QueryBuilder.class, TermQueryBuilder.NAME, TermQueryBuilder::new)));

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static <T> T copy(Writeable sent, Writeable.Reader<T> reader) throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      sent.writeTo(out);
      try (StreamInput in = new NamedWriteableAwareStreamInput(out.bytes().streamInput(), NAMES)) {
        T received = reader.read(in);
        assertEquals(-1, in.read());
        return received;
      }
    }
  }

  private static NeighborsRequest request(int k, Integer candidates, int batchSize) {
    return request(k, candidates, batchSize, null);
  }

  private static NeighborsRequest request(
      int k, Integer candidates, int batchSize, Integer slices) {
    return new NeighborsRequest(
        new String[] {"photos"},
        new NeighborsRequest.Options(
            "v",
            k,
            candidates,
            candidates == null,
            0.5f,
            QueryBuilders.termQuery("a", 1),
            QueryBuilders.termQuery("b", 2),
            "graph",
            "near",
            batchSize,
            slices,
            true),
        true,
        true);
  }

  @Test
  public void testWire() throws IOException {
    for (Integer some : new Integer[] {null, 60}) {
      NeighborsRequest sent = request(5, some, 100, some);
      NeighborsRequest received = copy(sent, NeighborsRequest::new);
      assertArrayEquals(sent.indices(), received.indices());
      assertEquals(sent.options(), received.options());
      assertTrue(received.refresh());
      assertTrue(received.getShouldStoreResult());
      assertNull(received.validate());
    }
    NeighborsCounts counts = NeighborsCounts.NONE.withTotal(9).withBatch(3, 2, 1);
    assertEquals(counts, copy(counts, NeighborsCounts::new));
    assertEquals(NeighborsCounts.NONE, copy(NeighborsCounts.NONE, NeighborsCounts::new));
    NeighborsResponse response =
        new NeighborsResponse(TimeValue.timeValueMillis(7), counts, "by user request");
    NeighborsResponse arrived = copy(response, NeighborsResponse::new);
    assertEquals(
        "{\"took\":7,\"canceled\":\"by user request\",\"total\":9,\"created\":3,\"updated\":2,"
            + "\"skipped\":1,\"batches\":1}",
        Strings.toString(arrived));
  }

  @Test
  public void testRanges() {
    assertRefused(request(0, null, 1), "[k] is [0], allowed is a whole number from 1 to 9999");
    assertRefused(request(10_000, null, 1), "[k] is [10000], allowed");
    assertRefused(
        request(20, 19, 1), "[num_candidates] is [19], allowed is a whole number from 20 to 10000");
    assertRefused(request(20, 10_001, 1), "[num_candidates] is [10001]");
    assertRefused(
        request(1, null, 10_001), "[batch_size] is [10001], allowed is a whole number from 1 to");
    assertRefused(
        request(1, null, 1, 65), "[slices] is [65], allowed is a whole number from 1 to 64");
    assertRefused(request(1, null, 1, 0), "[slices] is [0], allowed");
    assertNull(request(9_999, 10_000, 10_000, 64).validate());
  }

  /** By default half the processors run slices, and no slice has less than a batch. */
  @Test
  public void testSlices() {
    NeighborsRequest.Options byDefault = request(1, null, 100).options();
    assertEquals(2, byDefault.slices(100_000, 4));
    assertEquals(8, byDefault.slices(100_000, 64));
    assertEquals(1, byDefault.slices(100_000, 1));
    assertEquals(3, byDefault.slices(201, 64));
    assertEquals(1, byDefault.slices(0, 64));
    assertEquals(4, request(1, null, 5_000).options().slices(100_000, 64));
    assertEquals(2, request(1, null, 10_000).options().slices(100_000, 64));
    NeighborsRequest.Options asked = request(1, null, 100, 60).options();
    assertEquals(60, asked.slices(100_000, 1));
    assertEquals(2, asked.slices(200, 64));
    assertEquals(60, asked.slices(Long.MAX_VALUE, 64));
  }

  private static void assertRefused(NeighborsRequest request, String reason) {
    String message = request.validate().getMessage();
    assertTrue(message, message.contains(reason));
  }

  /** A search has room for the document itself. */
  @Test
  public void testSearch() {
    BatchSearchRequest search = request(10, 10, 1).search();
    assertEquals(11, search.k());
    assertEquals(11, search.numCandidates());
    assertFalse(search.exact());
    assertTrue(search.columnar());
    assertEquals(List.of(QueryBuilders.termQuery("b", 2)), search.filters());
    assertEquals(0.5f, search.similarity(), 0);
    assertEquals(100, request(10, null, 1).search().numCandidates());
    assertEquals(152, request(100, null, 1).search().numCandidates());
    assertEquals(10_000, request(9_999, null, 1).search().numCandidates());
    assertEquals(10_000, request(9_999, 9_999, 1).search().k());
    assertTrue(request(10, null, 1).search().exact());
  }

  @Test
  public void testPages() {
    float[] floats = {1, 2};
    assertArrayEquals(floats, (float[]) Page.vector(List.of(floats)), 0);
    byte[] bytes = {-128, 127};
    assertArrayEquals(
        bytes, (byte[]) Page.vector(List.of((Object) new Byte[] {(byte) -128, (byte) 127})));
    assertArrayEquals(
        bytes, (byte[]) Page.vector(List.of((Object) List.of((byte) -128, (byte) 127))));
    assertNull(Page.vector(List.of()));
    assertNull(Page.vector(List.of("AAAA")));
    Page page = new Page(List.of("x", "y", "z"), List.of(floats, new float[2], new float[2]));
    assertEquals(3, page.queries().count());
    Page rest = page.without(Set.of("y", "z", "other"));
    assertEquals(List.of("x"), rest.ids());
    assertArrayEquals(new float[][] {floats}, rest.queries().floats());
    assertTrue(rest.ramBytesUsed() < page.ramBytesUsed());
    assertArrayEquals(
        new byte[][] {bytes}, new Page(List.of("x"), List.of(bytes)).queries().bytes());
  }
}
