package dev.vamana.elasticsearch.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.NoShardAvailableActionException;
import org.elasticsearch.action.search.SearchPhaseExecutionException;
import org.elasticsearch.action.search.ShardSearchFailure;
import org.elasticsearch.action.support.RefCountingRunnable;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchShardTarget;
import org.elasticsearch.search.internal.ShardSearchContextId;

/**
 * Runs one batched search on the coordinating node. It queries a copy of every shard, tries the
 * next copy if one fails, merges the hits, and fetches the documents of the merged hits.
 *
 * <p>If a copy is lost after its hits have been merged, the run queries all shards again, and asks
 * the next copy of the lost one. Hits of another copy may be others, and so may the merged hits of
 * every shard; but the readers that have been fetched from are closed, and the hits that did not
 * win are forgotten. Keeping them would cost every search memory. Each time at least one shard goes
 * on to its next copy, so a run ends.
 */
final class BatchSearchRun {

  /** Most indices in a message. */
  private static final int MOST_NAMED = 10;

  private final ShardClient client;
  private final Elapsed elapsed;
  private final BatchSearchTask task;
  private final List<ShardTargets.Copies> shards;
  private final ShardTurns turns;
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
  private final AtomicReference<Exception> ownFailure = new AtomicReference<>();

  /** The hits of one copy of a shard. */
  private record Answered(SearchShardTarget target, ShardQueryResponse response) {}

  /**
   * Makes a run.
   *
   * @param elapsed the time since the request arrived
   * @param turns how many shards are searched at a time
   * @param profile whether to answer what the batch cost
   * @param charge memory charge, passed to the response, or closed on failure
   */
  BatchSearchRun(
      ShardClient client,
      Elapsed elapsed,
      BatchSearchTask task,
      List<ShardTargets.Copies> shards,
      ShardTurns turns,
      ShardQuery query,
      FetchSpec fetch,
      boolean profile,
      BreakerCharge charge,
      ActionListener<BatchSearchResponse> answer) {
    this.client = client;
    this.elapsed = elapsed;
    this.task = task;
    this.shards = shards;
    this.turns = turns;
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
    try (RefCountingRunnable pending = new RefCountingRunnable(completing(this::merge))) {
      for (int shard = 0; shard < shards.size(); shard++) {
        if (failures.get(shard) == null) {
          query(shard, null, pending.acquireListener());
        }
      }
    }
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

  private void query(int shard, Exception last, ActionListener<Void> done) {
    ShardTargets.Copies of = shards.get(shard);
    int copy = copies.get(shard);
    if (copy == of.nodes().size()) {
      Exception cause =
          last == null ? new NoShardAvailableActionException(of.target().shardId()) : last;
      String node = copy == 0 ? null : of.nodes().get(copy - 1);
      failures.set(shard, new ShardSearchFailure(cause, target(shard, node)));
      done.onResponse(null);
      return;
    }
    String node = of.nodes().get(copy);
    ActionListener<ShardQueryResponse> next =
        listener(
            response -> take(shard, node, response),
            failure -> {
              boolean noOther = isRefused(failure) || ownFailure.get() != null;
              copies.set(shard, noOther ? of.nodes().size() : copy + 1);
              query(shard, failure, done);
            },
            done);
    long bytes = client.copies(node) ? query.vectors().ramBytesUsed() : 0;
    turns.take(node, bytes, ended -> send(node, bytes, of.target(), next, ended, done));
  }

  /**
   * Sends a query, unless the run has failed while it waited.
   *
   * @param bytes memory of the message, which is charged until the answer comes
   * @param ended to be run then
   */
  private void send(
      String node,
      long bytes,
      ShardRequest.ShardTarget target,
      ActionListener<ShardQueryResponse> next,
      Runnable ended,
      ActionListener<Void> done) {
    try {
      failIfEnded();
      charge.add(bytes);
    } catch (Exception e) {
      ownFailure.compareAndSet(null, e);
      ended.run();
      done.onResponse(null);
      return;
    }
    client.query(
        node,
        new ShardQueryRequest(target, query, shards.size() == 1 ? fetch : null),
        ActionListener.runBefore(
            next,
            () -> {
              charge.release(bytes);
              ended.run();
            }));
  }

  /**
   * A listener that ends a step when it has taken a response. What fails there fails on this node,
   * and so fails the run: no other copy is asked, and no shard is left out.
   */
  private <T> ActionListener<T> listener(
      Consumer<T> take, Consumer<Exception> failed, ActionListener<Void> done) {
    return new ActionListener<>() {
      @Override
      public void onResponse(T response) {
        try {
          take.accept(response);
        } catch (RuntimeException e) {
          ownFailure.compareAndSet(null, e);
        } finally {
          done.onResponse(null);
        }
      }

      @Override
      public void onFailure(Exception e) {
        failed.accept(e);
      }
    };
  }

  /** Whether all other copies would reject the request, too. */
  private boolean isRefused(Exception failure) {
    RestStatus status = ExceptionsHelper.status(ExceptionsHelper.unwrapCause(failure));
    return task.isCancelled() || status == RestStatus.BAD_REQUEST;
  }

  private void take(int shard, String node, ShardQueryResponse response) {
    // noted before anything can fail, since its reader has to be closed then
    answered.set(shard, new Answered(target(shard, node), response));
    readers.set(shard, response.reader());
    charge.add(
        response.hits().ramBytesUsed()
            + (response.fetched() == null ? 0 : response.fetched().ramBytesUsed()));
    task.advance(query.vectors().count());
  }

  private SearchShardTarget target(int shard, String node) {
    return new SearchShardTarget(node, shards.get(shard).target().shardId(), null);
  }

  private void merge() throws Exception {
    failIfEnded();
    failUnlessEnough("query");
    failIfUnmapped();
    Elapsed merging = Elapsed.now();
    List<ShardHits> hits = new ArrayList<>();
    long found = 0;
    for (int shard = 0; shard < shards.size(); shard++) {
      Answered of = answered.get(shard);
      hits.add(of == null ? null : of.response().hits());
      found += of == null ? 0 : of.response().hits().docs().length;
    }
    int vectors = query.vectors().count();
    long mergedBytes = MergedHits.ramBytesUsed(found, vectors, query.k());
    charge.add(mergedBytes);
    MergedHits merged = MergedHits.of(hits, vectors, query.k(), task::ensureNotCancelled);
    List<DistinctDocs> docs = merged.distinctDocs(shards.size());
    forgetHits();
    long mergeNanos = merging.nanos();
    try (RefCountingRunnable pending =
        new RefCountingRunnable(completing(() -> respond(merged, mergedBytes, mergeNanos)))) {
      for (int shard = 0; shard < shards.size(); shard++) {
        if (answered.get(shard) != null) {
          fetch(shard, answered.get(shard), docs.get(shard), pending.acquireListener());
        }
      }
    }
  }

  /** If no index has the field, its name is probably wrong. A shard that failed may have it. */
  private void failIfUnmapped() {
    TreeSet<String> indices = new TreeSet<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      Answered found = answered.get(shard);
      if (found == null || found.response().mapped()) {
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

  private void forgetHits() {
    for (int shard = 0; shard < shards.size(); shard++) {
      Answered found = answered.get(shard);
      if (found != null) {
        answered.set(shard, new Answered(found.target(), found.response().withoutHits()));
        charge.release(found.response().hits().ramBytesUsed());
      }
    }
  }

  private void fetch(int shard, Answered found, DistinctDocs docs, ActionListener<Void> done) {
    if (found.response().fetched() != null) {
      fetched.set(shard, new HitsBuilder.Fetched(found.target(), docs, found.response().fetched()));
      done.onResponse(null);
      return;
    }
    if (docs.docs().length == 0) {
      free(shard);
      FetchedDocs none = new FetchedDocs(DocIds.of(), null);
      fetched.set(shard, new HitsBuilder.Fetched(found.target(), docs, none));
      done.onResponse(null);
      return;
    }
    ShardFetchRequest request = fetchRequest(shard, found.response().reader(), docs.docs());
    Elapsed fetching = Elapsed.now();
    client.fetch(
        found.target().getNodeId(),
        request,
        listener(
            response -> {
              readers.set(shard, null);
              fetched.set(shard, new HitsBuilder.Fetched(found.target(), docs, response.fetched()));
              fetchNanos.set(shard, fetching.nanos());
              charge.add(response.fetched().ramBytesUsed());
            },
            failure -> {
              failures.set(shard, new ShardSearchFailure(failure, found.target()));
              boolean isLost = LostCopy.isCauseOf(failure);
              copies.set(shard, isLost ? copies.get(shard) + 1 : shards.get(shard).nodes().size());
              free(shard);
              done.onResponse(null);
            },
            done));
  }

  private void respond(MergedHits merged, long mergedBytes, long mergeNanos) throws Exception {
    failIfEnded();
    if (takeBackLost()) {
      charge.release(mergedBytes + forgetAnswers());
      start();
      return;
    }
    failUnlessEnough("fetch");
    List<HitsBuilder.Fetched> parts = new ArrayList<>();
    boolean timedOut = false;
    for (int shard = 0; shard < shards.size(); shard++) {
      parts.add(fetched.get(shard));
      timedOut |= answered.get(shard) != null && answered.get(shard).response().timedOut();
    }
    HitsBuilder builder = new HitsBuilder(merged, parts);
    charge.add(builder.ramBytesUsed(fetch.idsOnly()));
    BatchHits hits = fetch.idsOnly() ? builder.columnar() : builder.standard();
    charge.release(mergedBytes);
    ShardSearchFailure[] failed = failed();
    BatchSearchResponse response =
        new BatchSearchResponse(
            elapsed.time(),
            timedOut,
            new BatchSearchResponse.Shards(shards.size(), shards.size() - failed.length, 0, failed),
            hits,
            profile ? profile(mergeNanos) : null,
            charge);
    ActionListener.respondAndRelease(answer, response);
  }

  /** Whether a copy was lost of a shard that has another; its failure no longer counts. */
  private boolean takeBackLost() {
    boolean any = false;
    for (int shard = 0; shard < shards.size(); shard++) {
      if (failures.get(shard) != null && copies.get(shard) < shards.get(shard).nodes().size()) {
        failures.set(shard, null);
        any = true;
      }
    }
    return any;
  }

  /** Forgets what the shards answered, and returns the bytes charged for their documents. */
  private long forgetAnswers() {
    long bytes = 0;
    for (int shard = 0; shard < shards.size(); shard++) {
      HitsBuilder.Fetched docs = fetched.getAndSet(shard, null);
      bytes += docs == null ? 0 : docs.docs().ramBytesUsed();
      answered.set(shard, null);
      fetchNanos.set(shard, 0);
    }
    return bytes;
  }

  private BatchProfile profile(long mergeNanos) {
    List<BatchProfile.OfShard> profiles = new ArrayList<>();
    for (int shard = 0; shard < shards.size(); shard++) {
      Answered of = answered.get(shard);
      if (of != null) {
        ShardProfile cost = of.response().profile();
        profiles.add(
            new BatchProfile.OfShard(
                of.target().toString(),
                fetchNanos.get(shard) == 0 ? cost : cost.withFetch(fetchNanos.get(shard))));
      }
    }
    return new BatchProfile(profiles, mergeNanos);
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
      client.free(
          answered.get(shard).target().getNodeId(), fetchRequest(shard, reader, new int[0]));
    }
  }

  private ShardFetchRequest fetchRequest(int shard, ShardSearchContextId reader, int[] docs) {
    return new ShardFetchRequest(
        shards.get(shard).target(), reader, docs, fetch, query.nowMillis(), BatchSummary.of(query));
  }
}
