package dev.vamana.elasticsearch.search;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** Asks a shard for the nearest documents of all vectors of a batch. */
final class ShardQueryRequest extends ShardRequest {

  private final ShardQuery query;
  private final FetchSpec fetch;

  /**
   * Makes a request.
   *
   * @param fetch the parts of the hits to read in the same request; null to keep the shard's reader
   *     open for a {@link ShardFetchRequest}
   */
  ShardQueryRequest(ShardTarget target, ShardQuery query, FetchSpec fetch) {
    super(target);
    this.query = query;
    this.fetch = fetch;
  }

  ShardQueryRequest(StreamInput in) throws IOException {
    super(in);
    query = ShardQuery.readFrom(in);
    fetch = in.readOptionalWriteable(FetchSpec::readFrom);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    query.writeTo(out);
    out.writeOptionalWriteable(fetch);
  }

  ShardQuery query() {
    return query;
  }

  FetchSpec fetch() {
    return fetch;
  }

  @Override
  public String getDescription() {
    return "shard["
        + target().shardId()
        + "], field["
        + query.field()
        + "], vectors["
        + query.vectors().count()
        + "], k["
        + query.k()
        + "], num_candidates["
        + query.numCandidates()
        + "]";
  }
}
