package dev.vamana.elasticsearch.batch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.WalkChange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.OriginalIndices;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.cluster.routing.SplitShardCountSummary;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.tasks.TaskId;
import org.junit.BeforeClass;
import org.junit.Test;

/** What a coordinating node does with the answers of shards that are too large for it. */
public class BatchSearchRunTests {
  private static final int SHARDS = 3;
  private static final int QUERIES = 4;
  private static final int K = 100;

  /** Copies that answer at once, and know which of their readers are open. */
  private final class Copies implements ShardClient {
    final Set<ShardSearchContextId> open = new HashSet<>();
    final List<String> asked = new ArrayList<>();
    boolean refuses;
    boolean mapped = true;

    @Override
    public void query(
        String node, ShardQueryRequest request, ActionListener<ShardQueryResponse> listener) {
      asked.add(node);
      nanos.addAndGet(7_500_000);
      if (refuses) {
        listener.onFailure(
            new CircuitBreakingException("too much", CircuitBreaker.Durability.TRANSIENT));
        return;
      }
      ShardSearchContextId reader = new ShardSearchContextId("session", asked.size());
      open.add(reader);
      int[] ends = IntStream.rangeClosed(1, QUERIES).map(i -> i * K).toArray();
      int[] docs = IntStream.range(0, QUERIES * K).toArray();
      listener.onResponse(
          new ShardQueryResponse(
              new ShardHits(ends, docs, new float[docs.length]),
              false,
              reader,
              null,
              mapped,
              new ShardProfile("x", 1, docs.length, 2, 3, 0)));
    }

    @Override
    public void fetch(
        String node, ShardFetchRequest request, ActionListener<ShardFetchResponse> listener) {
      assertTrue("fetched from a closed reader", open.remove(request.reader()));
      String[] ids = new String[request.docs().length];
      Arrays.fill(ids, "x".repeat(10));
      FetchedDocs.Content[] contents =
          request.fetch().idsOnly() ? null : new FetchedDocs.Content[ids.length];
      if (contents != null) {
        Arrays.fill(contents, new FetchedDocs.Content(null, Map.of(), Map.of()));
      }
      listener.onResponse(new ShardFetchResponse(new FetchedDocs(DocIds.of(ids), contents)));
    }

    @Override
    public void free(String node, ShardFetchRequest request) {
      open.remove(request.reader());
    }
  }

  private final Copies copies = new Copies();
  private final AtomicLong nanos = new AtomicLong(5);
  private BatchSearchResponse response;
  private Exception failure;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static ShardTargets.Copies shard(int number) {
    return new ShardTargets.Copies(
        new ShardRequest.ShardTarget(
            new ShardId("index", "uuid", number),
            new OriginalIndices(new String[] {"index"}, IndicesOptions.strictExpand()),
            AliasFilter.EMPTY,
            SplitShardCountSummary.UNSET),
        List.of("first-" + number, "second-" + number));
  }

  private void run(CircuitBreaker breaker, boolean idsOnly) {
    ShardQuery query =
        new ShardQuery(
            "v",
            QueryVectors.ofFloats(new float[QUERIES][3]),
            K,
            K,
            QueryFilters.of(List.of()),
            null,
            WalkChange.NONE,
            false,
            null,
            true,
            17);
    response = null;
    failure = null;
    new BatchSearchRun(
            copies,
            new Elapsed(nanos::get),
            new BatchSearchTask(1, "type", "action", "", TaskId.EMPTY_TASK_ID, Map.of()),
            IntStream.range(0, SHARDS).mapToObj(BatchSearchRunTests::shard).toList(),
            query,
            new FetchSpec(idsOnly, null, List.of()),
            false,
            new BreakerCharge(breaker),
            new ActionListener<>() {
              @Override
              public void onResponse(BatchSearchResponse answer) {
                answer.mustIncRef();
                response = answer;
              }

              @Override
              public void onFailure(Exception e) {
                assertNull("failed twice", failure);
                failure = e;
              }
            })
        .start();
    assertTrue("one answer", (response == null) != (failure == null));
  }

  /** The readers are closed, and no document is fetched. */
  @Test
  public void testFieldThatNoIndexHas() {
    copies.mapped = false;
    run(RequestBreaker.withLimit(Long.MAX_VALUE), true);
    assertEquals(RestStatus.BAD_REQUEST, ExceptionsHelper.status(failure));
    assertTrue(failure.getMessage(), failure.getMessage().contains("[v]"));
    assertTrue(failure.getMessage(), failure.getMessage().contains("[index]"));
    assertEquals(Set.of(), copies.open);
  }

  @Test
  public void testTookIsTheTimeOfTheClock() {
    run(RequestBreaker.withLimit(Long.MAX_VALUE), true);
    assertEquals(22, response.took().millis());
    response.decRef();
  }

  /** Whichever charge it is that trips: 429, every copy asked once, and nothing left behind. */
  @Test
  public void testBreakerTripsOnTheCoordinatingNode() {
    for (boolean idsOnly : new boolean[] {true, false}) {
      int refused = 0;
      for (long limit = 100; ; limit += limit / 4) {
        copies.asked.clear();
        CircuitBreaker breaker = RequestBreaker.withLimit(limit);
        run(breaker, idsOnly);
        assertEquals("limit " + limit, SHARDS, copies.asked.size());
        assertEquals("limit " + limit, Set.of(), copies.open);
        if (response != null) {
          assertEquals(QUERIES, response.hits().queries());
          assertEquals(0, response.shards().failures().length);
          assertTrue(breaker.getUsed() > 0);
          response.decRef();
          assertEquals(0, breaker.getUsed());
          break;
        }
        refused++;
        assertTrue(failure.toString(), failure instanceof CircuitBreakingException);
        assertEquals(RestStatus.TOO_MANY_REQUESTS, ExceptionsHelper.status(failure));
        assertEquals("limit " + limit, 0, breaker.getUsed());
      }
      assertTrue("refused " + refused, refused > 10);
    }
  }

  /** A copy that is out of memory is not the only one: the next node may have some. */
  @Test
  public void testBreakersTripOnAllCopies() {
    copies.refuses = true;
    CircuitBreaker breaker = RequestBreaker.withLimit(1 << 20);
    run(breaker, true);
    assertEquals(2 * SHARDS, copies.asked.size());
    assertNotNull(failure);
    assertEquals(RestStatus.TOO_MANY_REQUESTS, ExceptionsHelper.status(failure));
    assertEquals(0, breaker.getUsed());
  }
}
