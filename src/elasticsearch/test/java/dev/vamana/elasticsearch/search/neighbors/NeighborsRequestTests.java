package dev.vamana.elasticsearch.search.neighbors;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.util.List;
import java.util.Set;
import org.elasticsearch.index.query.QueryBuilders;
import org.junit.BeforeClass;
import org.junit.Test;

/** Requests for neighbours: the slices of a run, and which search a batch is. */
public class NeighborsRequestTests {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
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
        true,
        Float.POSITIVE_INFINITY);
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

  /** A search has room for the document itself. */
  @Test
  public void testSearch() {
    BatchSearchRequest search = request(10, 10, 1).search();
    assertEquals(11, search.k());
    assertEquals(11, search.numCandidates());
    assertTrue(search.fetch().idsOnly());
    assertEquals(List.of(QueryBuilders.termQuery("b", 2)), search.filters());
    assertEquals(0.5f, search.similarity(), 0);
    assertEquals(100, request(10, null, 1).search().numCandidates());
    assertEquals(152, request(100, null, 1).search().numCandidates());
    assertEquals(10_000, request(9_999, null, 1).search().numCandidates());
    assertEquals(10_000, request(9_999, 9_999, 1).search().k());
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
