package dev.vamana.elasticsearch.search;

import static dev.vamana.elasticsearch.search.TestCopies.K;
import static dev.vamana.elasticsearch.search.TestCopies.QUERIES;
import static dev.vamana.elasticsearch.search.TestCopies.SHARDS;
import static dev.vamana.elasticsearch.search.TestCopies.node;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.codebook.Wire;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.action.NoShardAvailableActionException;
import org.elasticsearch.action.search.SearchPhaseExecutionException;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;
import org.elasticsearch.index.IndexNotFoundException;
import org.elasticsearch.index.shard.IndexShardClosedException;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.index.shard.ShardNotFoundException;
import org.elasticsearch.node.NodeClosedException;
import org.elasticsearch.search.SearchContextMissingException;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.fetch.FetchPhaseExecutionException;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.tasks.TaskManager;
import org.elasticsearch.telemetry.metric.MeterRegistry;
import org.elasticsearch.threadpool.DefaultBuiltInExecutorBuilders;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.NodeDisconnectedException;
import org.elasticsearch.transport.NodeNotConnectedException;
import org.elasticsearch.transport.RemoteTransportException;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Test;

/** A copy that is lost between a batch's hits and their documents is replaced by another. */
public class LostCopyTests extends RandomizedTest {
  private static final ShardId SHARD = new ShardId("index", "uuid", 0);

  private TestCopies copies;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  @Before
  public void newCopies() {
    copies = new TestCopies(randomLong());
  }

  private static List<Exception> losses() {
    return List.of(
        new SearchContextMissingException(new ShardSearchContextId("session", 1)),
        new NodeClosedException(Wire.node("n")),
        new NodeDisconnectedException(Wire.node("n"), "action"),
        new NodeNotConnectedException(Wire.node("n"), "message"),
        new NoShardAvailableActionException(SHARD),
        new ShardNotFoundException(SHARD),
        new IndexNotFoundException("index"),
        new IndexShardClosedException(SHARD),
        new AlreadyClosedException("closed"),
        new EsRejectedExecutionException("shutting down", true));
  }

  /** A loss as the coordinating node hears of it. */
  private static Exception randomLoss() {
    Exception loss = randomFrom(losses());
    if (randomBoolean()) {
      loss = new FetchPhaseExecutionException(null, "failed", loss);
    }
    return randomBoolean() ? remote(loss) : loss;
  }

  private static Exception remote(Exception cause) {
    return new RemoteTransportException(
        "n", new InetSocketAddress(InetAddress.getLoopbackAddress(), 9300), "action", cause);
  }

  /** The nodes that answer, if all that are lost are. */
  private List<String> survivors() {
    return IntStream.range(0, SHARDS)
        .mapToObj(shard -> node(shard, copies.lost.containsKey(node(shard, 0)) ? 1 : 0))
        .toList();
  }

  private record Hit(String node, int doc, float score) {}

  /**
   * Sorts the hits that all nodes have for a query, keeps the best, and leaves out documents of
   * lost nodes.
   */
  private List<Hit> merged(List<String> nodes, int query) {
    List<Hit> hits = new ArrayList<>();
    for (String node : nodes) {
      Hits of = copies.hits(node);
      for (int i = of.start(query); i < of.ends()[query]; i++) {
        hits.add(new Hit(node, of.docs()[i], of.scores()[i]));
      }
    }
    hits.sort(Comparator.comparing(Hit::score, Comparator.reverseOrder()));
    return hits.stream().limit(K).filter(hit -> !copies.lost.containsKey(hit.node())).toList();
  }

  private void assertHits(BatchHits found) {
    List<String> nodes = survivors();
    for (int query = 0; query < QUERIES; query++) {
      List<Hit> expected = merged(nodes, query);
      if (found instanceof ColumnarHits columns) {
        int start = query == 0 ? 0 : columns.ends()[query - 1];
        assertEquals(expected.size(), columns.ends()[query] - start);
        for (int i = 0; i < expected.size(); i++) {
          Hit hit = expected.get(i);
          assertEquals(TestCopies.id(hit.node(), hit.doc()), columns.ids()[start + i]);
          assertEquals(hit.score(), columns.scores()[start + i], 0);
        }
      } else {
        SearchHits hits = ((StandardHits) found).responses().get(query);
        assertEquals(expected.size(), hits.getHits().length);
        for (int i = 0; i < expected.size(); i++) {
          Hit hit = expected.get(i);
          SearchHit actual = hits.getAt(i);
          assertEquals(TestCopies.id(hit.node(), hit.doc()), actual.getId());
          assertEquals(hit.score(), actual.getScore(), 0);
          assertEquals(hit.node(), actual.getShard().getNodeId());
        }
      }
    }
  }

  private void assertNothingLeft(CircuitBreaker breaker) {
    if (copies.response != null) {
      copies.response.decRef();
    }
    assertEquals(0, breaker.getUsed());
    assertEquals(Map.of(), copies.open);
  }

  /** One or more shards lose their first copy; the second ones have other hits. */
  @Test
  public void testSecondCopiesAnswer() {
    for (boolean idsOnly : new boolean[] {true, false}) {
      copies.lost.clear();
      int certain = randomInt(SHARDS - 1);
      for (int shard = 0; shard < SHARDS; shard++) {
        if (shard == certain || randomBoolean()) {
          copies.lost.put(node(shard, 0), randomLoss());
        }
      }
      copies.allowPartial = randomBoolean();
      CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
      copies.run(breaker, idsOnly);
      assertNull(copies.failure);
      assertEquals(0, copies.response.shards().failures().length);
      assertHits(copies.response.hits());
      // all shards once, then all shards again
      assertEquals(2 * SHARDS, copies.asked.size());
      assertEquals(
          Stream.concat(
                  IntStream.range(0, SHARDS).mapToObj(shard -> node(shard, 0)),
                  survivors().stream())
              .toList(),
          copies.asked);
      assertEquals(
          new BatchSearchTask.Progress(QUERIES, SHARDS, QUERIES * SHARDS), copies.task.getStatus());
      assertNothingLeft(breaker);
    }
  }

  /** A shard without a copy that answers fails, and only this shard. */
  @Test
  public void testAllCopiesOfAShardAreLost() {
    int shard = randomInt(SHARDS - 1);
    copies.lost.put(node(shard, 0), randomLoss());
    copies.lost.put(node(shard, 1), randomLoss());
    CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
    copies.run(breaker, randomBoolean());
    assertEquals(1, copies.response.shards().failures().length);
    assertEquals(node(shard, 1), copies.response.shards().failures()[0].shard().getNodeId());
    assertHits(copies.response.hits());
    assertEquals(2 * SHARDS, copies.asked.size());
    assertNothingLeft(breaker);

    copies.allowPartial = false;
    copies.run(breaker, randomBoolean());
    assertTrue(copies.failure.toString(), copies.failure instanceof SearchPhaseExecutionException);
    assertNothingLeft(breaker);
  }

  /** A shard whose copies are lost one search after the other, while another has lost both. */
  @Test
  public void testCopiesAreLostOneAfterTheOther() {
    copies.lost.put(node(0, 0), randomLoss());
    copies.onQuery =
        node -> {
          if (node.equals(node(0, 1))) {
            copies.lost.put(node(1, 0), randomLoss());
          }
        };
    CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
    copies.run(breaker, randomBoolean());
    assertEquals(0, copies.response.shards().failures().length);
    assertHits(copies.response.hits());
    assertEquals(3 * SHARDS, copies.asked.size());
    assertNothingLeft(breaker);
  }

  /** A copy that is in trouble but there fails its shard: others have not less to do. */
  @Test
  public void testOtherFailuresAreNotRepeated() {
    int shard = randomInt(SHARDS - 1);
    copies.lost.put(
        node(shard, 0),
        randomFrom(
            List.of(
                new CircuitBreakingException("too much", CircuitBreaker.Durability.TRANSIENT),
                remote(new EsRejectedExecutionException("queue is full", false)),
                new IllegalArgumentException("bad field"))));
    CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
    copies.run(breaker, randomBoolean());
    assertEquals(SHARDS, copies.asked.size());
    assertEquals(1, copies.response.shards().failures().length);
    assertNothingLeft(breaker);
  }

  /** Whichever charge of the first or the second search trips: nothing is left behind. */
  @Test
  public void testBreakerTripsOnTheCoordinatingNode() {
    for (boolean idsOnly : new boolean[] {true, false}) {
      copies.lost.put(node(randomInt(SHARDS - 1), 0), randomLoss());
      Set<Integer> asked = new HashSet<>();
      for (long limit = 100; copies.response == null; limit += limit / 8) {
        CircuitBreaker breaker = RequestBreaker.withLimit(limit);
        copies.run(breaker, idsOnly);
        asked.add(copies.asked.size());
        if (copies.response == null) {
          assertTrue(copies.failure.toString(), copies.failure instanceof CircuitBreakingException);
        } else {
          assertHits(copies.response.hits());
        }
        assertNothingLeft(breaker);
      }
      // in the first search and in the second one; a search that fails asks no more shards
      assertTrue(asked.toString(), asked.containsAll(Set.of(SHARDS, 2 * SHARDS)));
      copies.response = null;
    }
  }

  /** A search that is cancelled while it fetches is not repeated. */
  @Test
  public void testCancelled() {
    ThreadPool threads =
        new ThreadPool(
            Settings.builder().put("node.name", "n").build(),
            MeterRegistry.NOOP,
            new DefaultBuiltInExecutorBuilders());
    try {
      TaskManager tasks = new TaskManager(Settings.EMPTY, threads, Set.of());
      copies.newTask = request -> (BatchSearchTask) tasks.register("type", "action", request);
      copies.lost.put(node(randomInt(SHARDS - 1), 0), randomLoss());
      copies.onFetch = () -> tasks.cancel(copies.task, "by the test", () -> {});
      CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
      copies.run(breaker, randomBoolean());
      assertTrue(copies.failure.toString(), copies.failure instanceof TaskCancelledException);
      assertEquals(SHARDS, copies.asked.size());
      assertNothingLeft(breaker);
    } finally {
      ThreadPool.terminate(threads, 10, TimeUnit.SECONDS);
    }
  }
}
