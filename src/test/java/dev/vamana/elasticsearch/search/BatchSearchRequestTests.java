package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;
import org.junit.Test;

/** What is wrong with a request is said before anything is done for it. */
public class BatchSearchRequestTests {
  private static BatchSearchRequest valid() {
    return new BatchSearchRequest("i").field("v").vectors(vectors(2));
  }

  private static QueryVectors vectors(int count) {
    return QueryVectors.ofFloats(new float[count][3]);
  }

  private static void assertRefused(BatchSearchRequest request, String... parts) {
    ActionRequestValidationException errors = request.validate();
    for (String part : parts) {
      assertTrue(errors.getMessage(), errors.getMessage().contains(part));
    }
    assertEquals(errors.getMessage(), 1, errors.validationErrors().size());
  }

  @Test
  public void testValid() {
    assertNull(valid().validate());
    assertNull(valid().columnar(true).source(FetchSourceContext.of(false)).validate());
  }

  @Test
  public void testDefaultsAreThoseOfTheKnnSection() {
    assertEquals(10, valid().k());
    assertEquals(15, valid().numCandidates());
    assertEquals(2, valid().k(1).numCandidates());
    assertEquals(10_000, valid().k(9_000).numCandidates());
  }

  @Test
  public void testOutOfRange() {
    assertRefused(
        valid().maxConcurrentShardRequests(0), "[max_concurrent_shard_requests]", "got [0]");
    assertRefused(
        valid().columnar(true).fields(List.of(new FieldAndFormat("f", null))), "columnar");
    assertRefused(valid().columnar(true).source(FetchSourceContext.of(true)), "columnar");
  }

  @Test
  public void testVectorsOfDifferentLengths() {
    IllegalArgumentException different =
        assertThrows(
            IllegalArgumentException.class,
            () -> QueryVectors.ofFloats(new float[][] {new float[3], new float[2]}));
    assertTrue(different.getMessage(), different.getMessage().contains("vector [1] has [2]"));
    IllegalArgumentException empty =
        assertThrows(
            IllegalArgumentException.class,
            () -> QueryVectors.ofBytes(new byte[][] {new byte[1], new byte[0]}));
    assertTrue(empty.getMessage(), empty.getMessage().contains("[1] is empty"));
  }
}
