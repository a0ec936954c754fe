package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.search.SearchPhaseExecutionException;
import org.elasticsearch.action.search.ShardSearchFailure;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchContextMissingException;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.junit.BeforeClass;
import org.junit.Test;

/** Memory of a coordinating node for vectors and answers, and copies that fail. */
public class BatchSearchRunTests {
  private final TestCopies copies = new TestCopies(19);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  /** Of the nodes, only those are asked for documents that have some; the readers are closed. */
  @Test
  public void testShardWithoutWinners() {
    copies.poor.add(TestCopies.node(1, 0));
    for (boolean idsOnly : new boolean[] {true, false}) {
      copies.run(RequestBreaker.withLimit(Long.MAX_VALUE), idsOnly);
      assertEquals(
          List.of(TestCopies.node(0, 0), TestCopies.node(2, 0)), List.copyOf(copies.fetchedFrom));
      assertEquals(Map.of(), copies.open);
      assertEquals(0, copies.response.shards().failures().length);
      copies.response.decRef();
    }
  }

  /** Each copy of the vectors is charged while it is on its way. */
  @Test
  public void testCopiesOfVectorsAreCharged() {
    long vectors = QueryVectors.ofFloats(new float[TestCopies.QUERIES][3]).ramBytesUsed();
    CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
    List<Long> first = new ArrayList<>();
    copies.onQuery = node -> first.add(breaker.getUsed());
    copies.run(breaker, true);
    long after = breaker.getUsed();
    copies.response.decRef();
    assertEquals(0, first.get(0).longValue());
    copies.copied = true;
    copies.run(breaker, true);
    assertEquals(after, breaker.getUsed());
    copies.response.decRef();
    for (int shard = 0; shard < TestCopies.SHARDS; shard++) {
      long more = first.get(TestCopies.SHARDS + shard) - first.get(shard);
      assertEquals(vectors, more);
    }

    CircuitBreaker tooSmall = RequestBreaker.withLimit(vectors - 1);
    copies.onQuery = node -> {};
    copies.run(tooSmall, true);
    assertEquals(RestStatus.TOO_MANY_REQUESTS, ExceptionsHelper.status(copies.failure));
    assertEquals("no node was asked", List.of(), copies.asked);
    assertEquals(0, tooSmall.getUsed());
  }

  /**
   * However many shards a node has; shards that fail there go to the nodes of their next copies.
   */
  @Test
  public void testVectorsAreSentOnceANode() {
    CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
    copies.together = true;
    copies.run(breaker, true);
    assertEquals(List.of("first"), copies.messages);
    assertEquals(TestCopies.SHARDS, copies.asked.size());
    copies.response.decRef();

    copies.refuse.add(TestCopies.node(1, 0));
    copies.run(breaker, true);
    assertEquals(List.of("first", "second"), copies.messages);
    assertEquals(TestCopies.node(1, 1), copies.asked.get(TestCopies.SHARDS));
    assertEquals(TestCopies.SHARDS + 1, copies.asked.size());
    assertEquals(0, copies.response.shards().failures().length);
    copies.response.decRef();

    copies.gone.add("first");
    copies.run(breaker, false);
    assertEquals(List.of("first", "second"), copies.messages);
    assertEquals(2 * TestCopies.SHARDS, copies.asked.size());
    assertEquals(0, copies.response.shards().failures().length);
    copies.response.decRef();

    copies.gone.add("second");
    copies.run(breaker, false);
    assertTrue(copies.failure.toString(), copies.failure instanceof SearchPhaseExecutionException);
    assertEquals(Map.of(), copies.open);
    assertEquals(0, breaker.getUsed());
  }

  /** Whichever charge it is that trips: 429, every copy asked once, and nothing left behind. */
  @Test
  public void testBreakerTripsOnTheCoordinatingNode() {
    for (boolean idsOnly : new boolean[] {true, false}) {
      int refused = 0;
      for (long limit = 100; ; limit += limit / 4) {
        CircuitBreaker breaker = RequestBreaker.withLimit(limit);
        copies.run(breaker, idsOnly);
        assertEquals("limit " + limit, Set.copyOf(copies.asked).size(), copies.asked.size());
        assertEquals("limit " + limit, Map.of(), copies.open);
        if (copies.response != null) {
          assertEquals(TestCopies.QUERIES, copies.response.hits().queries());
          assertEquals(0, copies.response.shards().failures().length);
          assertTrue(breaker.getUsed() > 0);
          copies.response.decRef();
          assertEquals(0, breaker.getUsed());
          break;
        }
        refused++;
        Exception failure = copies.failure;
        assertTrue(failure.toString(), failure instanceof CircuitBreakingException);
        assertEquals(RestStatus.TOO_MANY_REQUESTS, ExceptionsHelper.status(failure));
        assertEquals("limit " + limit, 0, breaker.getUsed());
      }
      assertTrue("refused " + refused, refused > 10);
    }
  }

  /**
   * A copy that is lost between its hits and their documents fails its shard, and only this one.
   */
  @Test
  public void testCopyThatIsLost() {
    copies.lost.put(
        TestCopies.node(1, 0),
        new SearchContextMissingException(new ShardSearchContextId("session", 1)));
    for (boolean idsOnly : new boolean[] {true, false}) {
      CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
      copies.run(breaker, idsOnly);
      assertEquals(TestCopies.SHARDS, copies.asked.size());
      assertEquals(Map.of(), copies.open);
      ShardSearchFailure[] failures = copies.response.shards().failures();
      assertEquals(1, failures.length);
      assertEquals(TestCopies.node(1, 0), failures[0].shard().getNodeId());
      assertEquals(TestCopies.SHARDS - 1, copies.response.shards().successful());
      if (copies.response.hits() instanceof ColumnarHits columns) {
        assertTrue(columns.ids().length > 0);
        for (String id : columns.ids()) {
          assertFalse(id, id.startsWith(TestCopies.node(1, 0)));
        }
      }
      copies.response.decRef();
      assertEquals(0, breaker.getUsed());
    }
    copies.allowPartial = false;
    copies.run(RequestBreaker.withLimit(Long.MAX_VALUE), true);
    assertTrue(copies.failure.toString(), copies.failure instanceof SearchPhaseExecutionException);
    assertEquals(Map.of(), copies.open);
  }

  /** A copy that is out of memory is not the only one: the next node may have some. */
  @Test
  public void testBreakersTripOnAllCopies() {
    for (int shard = 0; shard < TestCopies.SHARDS; shard++) {
      copies.refuse.add(TestCopies.node(shard, 0));
      copies.refuse.add(TestCopies.node(shard, 1));
    }
    CircuitBreaker breaker = RequestBreaker.withLimit(1 << 20);
    copies.run(breaker, true);
    assertEquals(2 * TestCopies.SHARDS, copies.asked.size());
    assertNotNull(copies.failure);
    assertEquals(RestStatus.TOO_MANY_REQUESTS, ExceptionsHelper.status(copies.failure));
    assertEquals(0, breaker.getUsed());
  }
}
