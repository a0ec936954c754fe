package dev.vamana.elasticsearch.search;

import java.io.IOException;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.search.internal.ShardSearchContextId;

/** The hits of a shard for a {@link ShardQueryRequest}. */
final class ShardQueryResponse extends ActionResponse {

  private final ShardHits hits;
  private final boolean timedOut;
  private final ShardSearchContextId reader;
  private final FetchedDocs fetched;
  private final boolean mapped;
  private final ShardProfile profile;

  /**
   * Makes a response.
   *
   * @param reader id of the reader that stays open, or null
   * @param fetched the {@link ShardHits#distinctDocs} of the hits if they were requested, or null
   * @param mapped whether the mapping of the index has the field
   * @param profile what the search cost
   */
  ShardQueryResponse(
      ShardHits hits,
      boolean timedOut,
      ShardSearchContextId reader,
      FetchedDocs fetched,
      boolean mapped,
      ShardProfile profile) {
    this.hits = hits;
    this.timedOut = timedOut;
    this.reader = reader;
    this.fetched = fetched;
    this.mapped = mapped;
    this.profile = profile;
  }

  ShardQueryResponse(StreamInput in) throws IOException {
    this(
        ShardHits.readFrom(in),
        in.readBoolean(),
        in.readOptionalWriteable(ShardSearchContextId::new),
        in.readOptionalWriteable(FetchedDocs::readFrom),
        in.readBoolean(),
        ShardProfile.readFrom(in));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    hits.writeTo(out);
    out.writeBoolean(timedOut);
    out.writeOptionalWriteable(reader);
    out.writeOptionalWriteable(fetched);
    out.writeBoolean(mapped);
    profile.writeTo(out);
  }

  /**
   * Returns the same hits with their fetched documents and without the reader, which is no longer
   * needed.
   */
  ShardQueryResponse with(FetchedDocs docs, long fetchNanos) {
    return new ShardQueryResponse(
        hits, timedOut, null, docs, mapped, profile.withFetch(fetchNanos));
  }

  /** Returns a copy without the hits, for use after they have been merged. */
  ShardQueryResponse withoutHits() {
    return new ShardQueryResponse(ShardHits.none(0), timedOut, reader, fetched, mapped, profile);
  }

  /** What the search cost. */
  ShardProfile profile() {
    return profile;
  }

  /** Whether the mapping of the index has the field. */
  boolean mapped() {
    return mapped;
  }

  ShardHits hits() {
    return hits;
  }

  boolean timedOut() {
    return timedOut;
  }

  ShardSearchContextId reader() {
    return reader;
  }

  FetchedDocs fetched() {
    return fetched;
  }
}
