package dev.vamana.elasticsearch.search;

import java.io.IOException;
import org.elasticsearch.action.OriginalIndices;
import org.elasticsearch.action.search.SearchType;
import org.elasticsearch.cluster.routing.SplitShardCountSummary;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.search.internal.ShardSearchRequest;

/**
 * A shard of a batched search and the names in the request that led to it.
 *
 * @param number position among the shards of the search, which orders equal scores
 * @param shardId the shard
 * @param names the names in the request that the shard's index belongs to
 * @param aliasFilter filter of the documents that these names show
 * @param splits number of shards of the index when the shard was chosen
 */
record ShardTarget(
    int number,
    ShardId shardId,
    OriginalIndices names,
    AliasFilter aliasFilter,
    SplitShardCountSummary splits)
    implements Writeable {

  /** The checkpoint of a search that waits for no operation to become visible. */
  private static final long NO_CHECKPOINT = -2;

  static ShardTarget readFrom(StreamInput in) throws IOException {
    return new ShardTarget(
        in.readVInt(),
        new ShardId(in),
        OriginalIndices.readOriginalIndices(in),
        AliasFilter.readFrom(in),
        new SplitShardCountSummary(in));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVInt(number);
    shardId.writeTo(out);
    OriginalIndices.writeOriginalIndices(names, out);
    aliasFilter.writeTo(out);
    splits.writeTo(out);
  }

  /**
   * Makes the request of a standard search of this shard.
   *
   * @param source the request's body, or null for none
   * @param reader the open reader to search, or null for a new one
   */
  ShardSearchRequest standard(
      SearchSourceBuilder source, ShardSearchContextId reader, long nowMillis) {
    return new ShardSearchRequest(
        names,
        shardId,
        0,
        1,
        SearchType.QUERY_THEN_FETCH,
        source,
        null,
        aliasFilter,
        1f,
        true,
        null,
        nowMillis,
        null,
        reader,
        null,
        NO_CHECKPOINT,
        SearchService.NO_TIMEOUT,
        false,
        splits,
        null,
        true);
  }
}
