package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.vamana.search.WalkChange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.OriginalIndices;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.routing.SplitShardCountSummary;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.common.breaker.NoopCircuitBreaker;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.node.NodeClosedException;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.tasks.TaskId;

/**
 * Two copies of each of some shards, each with hits of its own. They answer at once, and know which
 * of their readers are open. Runs batched searches of them.
 */
final class TestCopies implements BatchSearchRun.Nodes {
  static final int SHARDS = 3;
  static final int QUERIES = 4;
  static final int K = 100;

  /** Documents of a copy. */
  private static final int DOCS = 10 * K;

  /** The open readers, and the node of each. */
  final Map<ShardSearchContextId, String> open = new HashMap<>();

  /** The copies that were asked for hits, in this order. */
  final List<String> asked = new ArrayList<>();

  /** Failures that the copies of a node answer instead of documents. */
  final Map<String, Exception> lost = new HashMap<>();

  /** The nodes that leave before they answer. */
  final Set<String> gone = new HashSet<>();

  /** The copies that have no memory for a query. */
  final Set<String> refuse = new HashSet<>();

  /** The nodes that were sent the vectors, in this order. */
  final List<String> messages = new ArrayList<>();

  /** Whether all first copies are on one node, and all second ones on another. */
  boolean together;

  /** Called with each copy that is asked for hits. */
  Consumer<String> onQuery = node -> {};

  /** The nodes whose copies have no hits. */
  final Set<String> poor = new HashSet<>();

  /** The nodes that were asked for documents, in this order. */
  final List<String> fetchedFrom = new ArrayList<>();

  /** Whether requests to nodes are copied. */
  boolean copied;

  boolean mapped = true;
  boolean allowPartial = true;
  BatchSearchTask task;
  BatchSearchResponse response;
  Exception failure;
  private final AtomicLong nanos = new AtomicLong(5);
  private final long seed;

  /**
   * Makes copies.
   *
   * @param seed of their hits
   */
  TestCopies(long seed) {
    this.seed = seed;
  }

  /** The node of a copy: 0 or 1. */
  static String node(int shard, int copy) {
    return (copy == 0 ? "first-" : "second-") + shard;
  }

  /** The id of a copy's document. */
  static String id(String node, int doc) {
    return node + "/" + doc;
  }

  /** The hits of a copy. */
  Hits hits(String node) {
    Random random = new Random(seed ^ node.hashCode());
    int[] ends = IntStream.rangeClosed(1, QUERIES).map(i -> i * K).toArray();
    int[] docs = new int[QUERIES * K];
    float[] scores = new float[docs.length];
    for (int query = 0; query < QUERIES; query++) {
      Set<Integer> distinct = new HashSet<>();
      float score = 1;
      for (int i = query * K; i < ends[query]; i++) {
        do {
          docs[i] = random.nextInt(DOCS);
        } while (distinct.add(docs[i]) == false);
        score -= random.nextFloat() / K;
        scores[i] = score;
      }
    }
    int[] shards = new int[docs.length];
    Arrays.fill(shards, Integer.parseInt(node.substring(node.indexOf('-') + 1)));
    return new Hits(ends, shards, docs, scores);
  }

  @Override
  public boolean copies(String node) {
    return copied;
  }

  @Override
  public void query(
      String node, NodeQueryRequest request, ActionListener<NodeQueryResponse> listener) {
    messages.add(node);
    AtomicReference<Hits> merged = new AtomicReference<>(Hits.none(QUERIES));
    List<NodeQueryResponse.Outcome> outcomes = new ArrayList<>();
    BreakerCharge free = new BreakerCharge(new NoopCircuitBreaker("test"));
    for (ShardTarget target : request.shards()) {
      String copy = together ? node + "-" + target.number() : node;
      asked.add(copy);
      nanos.addAndGet(7_500_000);
      onQuery.accept(copy);
      if (refuse.contains(copy)) {
        outcomes.add(
            NodeQueryResponse.Outcome.failed(
                new CircuitBreakingException("too much", CircuitBreaker.Durability.TRANSIENT)));
        continue;
      }
      ShardSearchContextId reader = new ShardSearchContextId("session", asked.size());
      open.put(reader, copy);
      Hits hits = poor.contains(copy) ? Hits.none(QUERIES) : hits(copy);
      Hits.add(merged, hits, request.query().k(), free, () -> {});
      outcomes.add(
          new NodeQueryResponse.Outcome(
              reader, false, mapped, new ShardProfile("x", 1, hits.docs().length, 2, 3, 0), null));
    }
    if (gone.contains(node)) {
      open.values().removeIf(copy -> copy.startsWith(node));
      listener.onFailure(new NodeClosedException((DiscoveryNode) null));
      return;
    }
    listener.onResponse(new NodeQueryResponse(merged.get(), outcomes, null));
  }

  /** A copy that is lost leaves its reader open until it is told to close it. */
  @Override
  public void fetch(
      String node, ShardFetchRequest request, ActionListener<ShardFetchRequest.Response> listener) {
    String copy = open.get(request.reader());
    assertTrue("fetched from a closed reader", copy != null && copy.startsWith(node));
    assertTrue("asked for no documents", request.docs().length > 0);
    fetchedFrom.add(copy);
    if (lost.containsKey(copy)) {
      listener.onFailure(lost.get(copy));
      return;
    }
    open.remove(request.reader());
    String[] ids =
        IntStream.of(request.docs()).mapToObj(doc -> id(copy, doc)).toArray(String[]::new);
    FetchedDocs.Content[] contents =
        request.fetch().idsOnly()
            ? null
            : IntStream.range(0, ids.length)
                .mapToObj(i -> new FetchedDocs.Content(null, Map.of(), Map.of()))
                .toArray(FetchedDocs.Content[]::new);
    listener.onResponse(new ShardFetchRequest.Response(new FetchedDocs(ids, contents)));
  }

  @Override
  public void free(String node, ShardSearchContextId reader) {
    String copy = open.remove(reader);
    assertTrue("freed twice", copy != null && copy.startsWith(node));
  }

  private ShardTargets.Copies shard(int number) {
    return new ShardTargets.Copies(
        new ShardTarget(
            number,
            new ShardId("index", "uuid", number),
            new OriginalIndices(new String[] {"index"}, IndicesOptions.strictExpand()),
            AliasFilter.EMPTY,
            SplitShardCountSummary.UNSET),
        together ? List.of("first", "second") : List.of(node(number, 0), node(number, 1)));
  }

  /** Runs a search, and keeps its response, to be released, or its failure. */
  void run(CircuitBreaker breaker, boolean idsOnly) {
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
            allowPartial,
            17);
    asked.clear();
    messages.clear();
    fetchedFrom.clear();
    response = null;
    failure = null;
    task =
        (BatchSearchTask)
            new BatchSearchRequest()
                .createTask(1, "type", "action", TaskId.EMPTY_TASK_ID, Map.of());
    new BatchSearchRun(
            this,
            new Elapsed(nanos::get),
            task,
            IntStream.range(0, SHARDS).mapToObj(this::shard).toList(),
            1,
            5,
            query,
            new FetchSpec(idsOnly, null, List.of()),
            false,
            new BreakerCharge(breaker),
            new ActionListener<>() {
              @Override
              public void onResponse(BatchSearchResponse answer) {
                answer.mustIncRef();
                assertNull("answered twice", response);
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
}
