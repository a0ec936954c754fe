package dev.vamana.elasticsearch.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.NoShardAvailableActionException;
import org.elasticsearch.action.search.SearchPhaseExecutionException;
import org.elasticsearch.action.search.ShardSearchFailure;
import org.elasticsearch.action.support.RefCountingRunnable;
import org.elasticsearch.common.util.concurrent.ThrottledIterator;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchShardTarget;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.xcontent.ToXContent;

/**
 * Runs one batched search on the coordinating node. It sends the vectors once to each node that has
 * shards, asks another copy's node for shards that failed, merges the hits of a node as they come,
 * and fetches the documents of the merged hits. As in the server's searches, a copy that is lost
 * after its hits have been merged fails its shard.
 */
final class BatchSearchRun {

  /** Most indices in a message. */
  private static final int MOST_NAMED = 10;

  private final Nodes nodes;
  private final Elapsed elapsed;
  private final BatchSearchTask task;
  private final List<ShardTargets.Copies> shards;
  private final int nodesTogether;
  private final int shardsTogether;
  private final ShardQuery query;
  private final FetchSpec fetch;
  private final boolean profile;
  private final BreakerCharge charge;
  private final ActionListener<BatchSearchResponse> answer;
  private final AtomicReferenceArray<Answered> answered;
  private final AtomicReferenceArray<HitsBuilder.Fetched> fetched;
  private final AtomicReferenceArray<ShardSearchFailure> failures;
  private final AtomicReferenceArray<ShardSearchContextId> readers;
  private final AtomicIntegerArray copies;
  private final AtomicLongArray fetchNanos;
  private final AtomicLong mergeNanos = new AtomicLong();
  private final AtomicReference<Hits> merged = new AtomicReference<>();
  private final AtomicReference<FetchedDocs> fetchedAtOnce = new AtomicReference<>();
  private final AtomicReference<Exception> ownFailure = new AtomicReference<>();

  /**
   * The nodes with the shards of one batched search. Listeners are called once, on a thread that
   * may compute.
   */
  interface Nodes {

    /** Whether requests to a node are copied into messages; a node reads its own as they are. */
    boolean copies(String node);

    /** Searches shards of a node. */
    void query(String node, NodeQueryRequest request, ActionListener<NodeQueryResponse> listener);

    /** Fetches from the reader that a search has left open, and closes it. */
    void fetch(
        String node,
        ShardFetchRequest request,
        ActionListener<ShardFetchRequest.Response> listener);

    /** Closes a reader that a search has left open; also when the batched search is cancelled. */
    void free(String node, ShardSearchContextId reader);
  }

  /** The outcome of one copy of a shard. */
  private record Answered(SearchShardTarget target, NodeQueryResponse.Outcome outcome) {}

  /**
   * Makes a run.
   *
   * @param elapsed the time since the request arrived
   * @param nodesTogether how many nodes are sent the vectors at a time
   * @param shardsTogether how many shards a node searches at a time
   * @param profile whether to answer what the batch cost
   * @param charge memory charge, passed to the response, or closed on failure
   */
  BatchSearchRun(
      Nodes nodes,
      Elapsed elapsed,
      BatchSearchTask task,
      List<ShardTargets.Copies> shards,
      int nodesTogether,
      int shardsTogether,
      ShardQuery query,
      FetchSpec fetch,
      boolean profile,
      BreakerCharge charge,
      ActionListener<BatchSearchResponse> answer) {
    this.nodes = nodes;
    this.elapsed = elapsed;
    this.task = task;
    this.shards = shards;
    this.nodesTogether = nodesTogether;
    this.shardsTogether = shardsTogether;
    this.query = query;
    this.fetch = fetch;
    this.profile = profile;
    this.charge = charge;
    this.answer =
        ActionListener.wrap(
            answer::onResponse,
            failure -> {
              charge.close();
              answer.onFailure(failure);
            });
    this.answered = new AtomicReferenceArray<>(shards.size());
    this.fetched = new AtomicReferenceArray<>(shards.size());
    this.failures = new AtomicReferenceArray<>(shards.size());
    this.readers = new AtomicReferenceArray<>(shards.size());
    this.copies = new AtomicIntegerArray(shards.size());
    this.fetchNanos = new AtomicLongArray(shards.size());
  }

  /** Starts the search and returns at once. */
  void start() {
    task.start(query.vectors().count(), shards.size());
    Map<String, List<Integer>> byNode = new LinkedHashMap<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      assign(shard, null, byNode);
    }
    ThrottledIterator.run(
        byNode.entrySet().iterator(),
        (turn, of) -> query(of.getKey(), of.getValue(), turn::close),
        nodesTogether,
        completing(this::fetchMerged));
  }

  /** Assigns a shard to the node of its next copy, or fails it if there is none. */
  private void assign(int shard, Exception last, Map<String, List<Integer>> byNode) {
    ShardTargets.Copies of = shards.get(shard);
    int copy = copies.get(shard);
    if (copy < of.nodes().size()) {
      byNode.computeIfAbsent(of.nodes().get(copy), node -> new ArrayList<>()).add(shard);
      return;
    }
    Exception cause =
        last == null ? new NoShardAvailableActionException(of.target().shardId()) : last;
    String node = copy == 0 ? null : of.nodes().get(copy - 1);
    failures.set(shard, new ShardSearchFailure(cause, target(shard, node)));
  }

  private Runnable completing(Step step) {
    return () ->
        ActionListener.run(ActionListener.wrap(ignored -> {}, this::fail), ignored -> step.run());
  }

  /** A step of the run; if it fails, the run fails. */
  @FunctionalInterface
  private interface Step {
    void run() throws Exception;
  }

  /** Asks a node for shards, and other nodes for shards that fail there. */
  private void query(String node, List<Integer> numbers, Runnable done) {
    long bytes = nodes.copies(node) ? query.vectors().ramBytesUsed() : 0;
    boolean goesOn =
        orFail(
            () -> {
              failIfEnded();
              charge.add(bytes);
            });
    if (goesOn == false) {
      done.run();
      return;
    }
    List<ShardTarget> targets = numbers.stream().map(i -> shards.get(i).target()).toList();
    NodeQueryRequest request =
        new NodeQueryRequest(query, targets, shardsTogether, shards.size() == 1 ? fetch : null);
    ActionListener<NodeQueryResponse> listener =
        new ActionListener<>() {
          @Override
          public void onResponse(NodeQueryResponse response) {
            Map<Integer, Exception> failed = new LinkedHashMap<>();
            orFail(() -> take(node, numbers, response, failed));
            retry(failed, done);
          }

          @Override
          public void onFailure(Exception failure) {
            Map<Integer, Exception> all = new LinkedHashMap<>();
            numbers.forEach(shard -> all.put(shard, failure));
            retry(all, done);
          }
        };
    nodes.query(node, request, ActionListener.runBefore(listener, () -> charge.release(bytes)));
  }

  /** Takes the answer of a node, and notes the failed shards. */
  private void take(
      String node,
      List<Integer> numbers,
      NodeQueryResponse response,
      Map<Integer, Exception> failed) {
    // noted before anything can fail, since readers have to be closed then
    for (int i = 0; i < numbers.size(); i++) {
      int shard = numbers.get(i);
      NodeQueryResponse.Outcome outcome = response.outcomes().get(i);
      if (outcome.failure() == null) {
        answered.set(shard, new Answered(target(shard, node), outcome));
        readers.set(shard, outcome.reader());
        task.advance(query.vectors().count());
      } else {
        failed.put(shard, outcome.failure());
      }
    }
    Elapsed merging = Elapsed.now();
    FetchedDocs docs = response.fetched();
    charge.add(response.hits().ramBytesUsed() + (docs == null ? 0 : docs.ramBytesUsed()));
    fetchedAtOnce.set(docs);
    Hits.add(merged, response.hits(), query.k(), charge, task::ensureNotCancelled);
    mergeNanos.addAndGet(merging.nanos());
  }

  /** A failure of this node fails the run: no other copy is asked, and no shard is left out. */
  private boolean orFail(Step step) {
    try {
      step.run();
      return true;
    } catch (Exception e) {
      ownFailure.compareAndSet(null, e);
      return false;
    }
  }

  /** Asks the nodes of the next copies of shards. */
  private void retry(Map<Integer, Exception> failed, Runnable done) {
    Map<String, List<Integer>> byNode = new LinkedHashMap<>();
    failed.forEach(
        (shard, failure) -> {
          boolean noOther = isRefused(failure) || ownFailure.get() != null;
          copies.set(shard, noOther ? shards.get(shard).nodes().size() : copies.get(shard) + 1);
          assign(shard, failure, byNode);
        });
    try (RefCountingRunnable pending = new RefCountingRunnable(done)) {
      byNode.forEach((node, numbers) -> query(node, numbers, pending.acquire()::close));
    }
  }

  /** Whether all other copies would reject the request, too. */
  private boolean isRefused(Exception failure) {
    RestStatus status = ExceptionsHelper.status(ExceptionsHelper.unwrapCause(failure));
    return task.isCancelled() || status == RestStatus.BAD_REQUEST;
  }

  private SearchShardTarget target(int shard, String node) {
    return new SearchShardTarget(node, shards.get(shard).target().shardId(), null);
  }

  private void fetchMerged() throws Exception {
    failIfEnded();
    failUnlessEnough("query");
    failIfUnmapped();
    Hits hits = merged.get() == null ? Hits.none(query.vectors().count()) : merged.get();
    long docsBytes = DistinctDocs.ramBytesUsed(hits.docs().length);
    charge.add(docsBytes);
    List<DistinctDocs> docs = hits.distinctDocs(shards.size());
    try (RefCountingRunnable pending =
        new RefCountingRunnable(completing(() -> respond(hits, hits.ramBytesUsed() + docsBytes)))) {
      for (int shard = 0; shard < shards.size(); shard++) {
        if (answered.get(shard) != null) {
          fetch(shard, answered.get(shard), docs.get(shard), pending.acquire()::close);
        }
      }
    }
  }

  /** If no index has the field, its name is probably wrong. A shard that failed may have it. */
  private void failIfUnmapped() {
    TreeSet<String> indices = new TreeSet<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      Answered found = answered.get(shard);
      if (found == null || found.outcome().mapped()) {
        return;
      }
      indices.add(found.target().getShardId().getIndexName());
    }
    if (indices.isEmpty() == false) {
      throw new IllegalArgumentException(
          "[field] is ["
              + query.field()
              + "], but no mapping has this field: searched "
              + indices.stream().limit(MOST_NAMED).toList()
              + (indices.size() > MOST_NAMED ? " and others" : ""));
    }
  }

  private void fetch(int shard, Answered found, DistinctDocs docs, Runnable done) {
    FetchedDocs atOnce = docs.docs().length == 0 ? FetchedDocs.NONE : fetchedAtOnce.get();
    if (atOnce != null) {
      free(shard);
      fetched.set(shard, new HitsBuilder.Fetched(found.target(), docs, atOnce));
      done.run();
      return;
    }
    ShardFetchRequest request =
        new ShardFetchRequest(
            shards.get(shard).target(),
            readers.get(shard),
            docs.docs(),
            fetch,
            query.nowMillis(),
            BatchInLog.numbers(query));
    Elapsed fetching = Elapsed.now();
    nodes.fetch(
        found.target().getNodeId(),
        request,
        ActionListener.runAfter(
            ActionListener.wrap(
                response -> {
                  readers.set(shard, null);
                  fetched.set(
                      shard, new HitsBuilder.Fetched(found.target(), docs, response.fetched()));
                  fetchNanos.set(shard, fetching.nanos());
                  orFail(() -> charge.add(response.fetched().ramBytesUsed()));
                },
                failure -> {
                  failures.set(shard, new ShardSearchFailure(failure, found.target()));
                  free(shard);
                }),
            done));
  }

  private void respond(Hits hits, long mergedBytes) throws Exception {
    failIfEnded();
    failUnlessEnough("fetch");
    List<HitsBuilder.Fetched> parts = new ArrayList<>();
    boolean timedOut = false;
    for (int shard = 0; shard < shards.size(); shard++) {
      parts.add(fetched.get(shard));
      timedOut |= answered.get(shard) != null && answered.get(shard).outcome().timedOut();
    }
    HitsBuilder builder = new HitsBuilder(hits, parts);
    charge.add(builder.ramBytesUsed(fetch.idsOnly()));
    BatchHits built = fetch.idsOnly() ? builder.columnar() : builder.standard();
    charge.release(mergedBytes);
    ShardSearchFailure[] failed = failed();
    BatchSearchResponse response =
        new BatchSearchResponse(
            elapsed.time(),
            timedOut,
            new BatchSearchResponse.Shards(shards.size(), shards.size() - failed.length, 0, failed),
            built,
            profile ? profile() : null,
            charge);
    ActionListener.respondAndRelease(answer, response);
  }

  /** Costs of the batch on the shards that answered, and on this node. */
  private ToXContent profile() {
    Map<String, ShardProfile> profiles = new LinkedHashMap<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      Answered of = answered.get(shard);
      if (of != null) {
        ShardProfile cost = of.outcome().profile();
        profiles.put(
            of.target().toString(),
            fetchNanos.get(shard) == 0 ? cost : cost.withFetch(fetchNanos.get(shard)));
      }
    }
    return (json, params) -> {
      json.startObject("profile").startArray("shards");
      for (Map.Entry<String, ShardProfile> of : profiles.entrySet()) {
        of.getValue().write(json, of.getKey());
      }
      return json.endArray().field("merge_nanos", mergeNanos.get()).endObject();
    };
  }

  private ShardSearchFailure[] failed() {
    List<ShardSearchFailure> failed = new ArrayList<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      if (failures.get(shard) != null) {
        failed.add(failures.get(shard));
      }
    }
    return failed.toArray(ShardSearchFailure[]::new);
  }

  private void failIfEnded() throws Exception {
    task.ensureNotCancelled();
    if (ownFailure.get() != null) {
      throw ownFailure.get();
    }
  }

  private void failUnlessEnough(String phase) throws Exception {
    ShardSearchFailure[] failed = failed();
    if (failed.length > 0 && failed.length == shards.size()) {
      Exception first = refusal(failed[0]);
      if (first != null && Arrays.stream(failed).allMatch(one -> refusal(one) != null)) {
        throw first;
      }
      throw new SearchPhaseExecutionException(phase, "all shards failed", failed);
    }
    if (failed.length > 0 && query.allowPartial() == false) {
      throw new SearchPhaseExecutionException(phase, "Partial shards failure", failed);
    }
  }

  /**
   * The cause of a failure if it is a mistake in the request, which is not of one shard; or null.
   */
  private static Exception refusal(ShardSearchFailure failure) {
    return ExceptionsHelper.unwrapCause(failure.getCause())
            instanceof IllegalArgumentException cause
        ? cause
        : null;
  }

  private void fail(Exception failure) {
    for (int shard = 0; shard < shards.size(); shard++) {
      free(shard);
    }
    answer.onFailure(failure);
  }

  /** Closes the reader that a shard has left open, if there is one. */
  private void free(int shard) {
    ShardSearchContextId reader = readers.getAndSet(shard, null);
    if (reader != null) {
      nodes.free(answered.get(shard).target().getNodeId(), reader);
    }
  }
}
