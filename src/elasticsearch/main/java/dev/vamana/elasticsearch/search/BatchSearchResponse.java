package dev.vamana.elasticsearch.search;

import java.util.Collections;
import java.util.Iterator;
import java.util.Objects;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.search.ShardSearchFailure;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.xcontent.ChunkedToXContentHelper;
import org.elasticsearch.common.xcontent.ChunkedToXContentObject;
import org.elasticsearch.core.AbstractRefCounted;
import org.elasticsearch.core.RefCounted;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.core.Releasables;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestActions;
import org.elasticsearch.transport.LeakTracker;
import org.elasticsearch.xcontent.ToXContent;

/**
 * The hits of a batched search and the outcome of its shards. Reference-counted: each holder keeps
 * a reference, and releasing the last one returns the memory charged to the circuit breaker.
 */
public final class BatchSearchResponse extends ActionResponse implements ChunkedToXContentObject {

  private final long tookMillis;
  private final boolean timedOut;
  private final Shards shards;
  private final BatchHits hits;
  private final ToXContent profile;
  private final RefCounted references;

  /**
   * The outcome of the shards.
   *
   * @param total number of shards of the request
   * @param successful shards that answered or were skipped
   * @param skipped shards that were skipped; counted as successful, too
   * @param failures reasons of the failed shards, one per shard
   */
  public record Shards(int total, int successful, int skipped, ShardSearchFailure... failures) {}

  /**
   * Makes a response.
   *
   * @param timedOut whether a shard ran out of time and returned what it had
   * @param hits the hits, released with the response
   * @param profile writes what the batch cost as a field, or null
   * @param breaker the memory charged for the response, released with it
   */
  BatchSearchResponse(
      TimeValue took,
      boolean timedOut,
      Shards shards,
      BatchHits hits,
      ToXContent profile,
      Releasable breaker) {
    this.tookMillis = took.millis();
    this.timedOut = timedOut;
    this.shards = Objects.requireNonNull(shards, "shards");
    this.hits = Objects.requireNonNull(hits, "hits");
    this.profile = profile;
    this.references =
        LeakTracker.wrap(AbstractRefCounted.of(() -> Releasables.close(hits, breaker)));
  }

  /** Answers stay on the node. */
  @Override
  public void writeTo(StreamOutput out) {
    TransportAction.localOnly();
  }

  /** How long the search took. */
  public TimeValue took() {
    return TimeValue.timeValueMillis(tookMillis);
  }

  /** Whether a shard ran out of time and returned what it had. */
  public boolean timedOut() {
    return timedOut;
  }

  /** The outcome of the shards. */
  public Shards shards() {
    return shards;
  }

  /** The hits; valid as long as the caller holds a reference. */
  public BatchHits hits() {
    return hits;
  }

  /** The HTTP status of the answer, as for a search. */
  public RestStatus status() {
    return RestStatus.status(shards.successful(), shards.total(), shards.failures());
  }

  @Override
  public Iterator<? extends ToXContent> toXContentChunked(ToXContent.Params outer) {
    return Iterators.concat(
        ChunkedToXContentHelper.startObject(),
        Iterators.single(
            (json, params) -> {
              json.field("took", tookMillis);
              json.field("timed_out", timedOut);
              return RestActions.buildBroadcastShardsHeader(
                  json,
                  params,
                  shards.total(),
                  shards.successful(),
                  shards.skipped(),
                  shards.failures().length,
                  shards.failures());
            }),
        hits.toXContentChunked(outer),
        profile == null ? Collections.emptyIterator() : Iterators.single(profile),
        ChunkedToXContentHelper.endObject());
  }

  @Override
  public void incRef() {
    references.incRef();
  }

  @Override
  public boolean tryIncRef() {
    return references.tryIncRef();
  }

  @Override
  public boolean decRef() {
    return references.decRef();
  }

  @Override
  public boolean hasReferences() {
    return references.hasReferences();
  }
}
