package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.OriginalIndices;
import org.elasticsearch.action.search.SearchType;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.cluster.routing.SplitShardCountSummary;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.search.internal.ShardSearchRequest;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.transport.AbstractTransportRequest;

/** A request to one copy of one shard. */
abstract class ShardRequest extends AbstractTransportRequest implements IndicesRequest {

  private final ShardTarget target;

  /**
   * A shard and the names in the request that led to it.
   *
   * @param shardId the shard
   * @param names the names in the request that the shard's index belongs to
   * @param aliasFilter filter of the documents that these names show
   * @param splits number of shards of the index when the shard was chosen
   */
  record ShardTarget(
      ShardId shardId,
      OriginalIndices names,
      AliasFilter aliasFilter,
      SplitShardCountSummary splits) {

    static ShardTarget readFrom(StreamInput in) throws IOException {
      return new ShardTarget(
          new ShardId(in),
          OriginalIndices.readOriginalIndices(in),
          AliasFilter.readFrom(in),
          new SplitShardCountSummary(in));
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
          ShardSearches.NO_CHECKPOINT,
          SearchService.NO_TIMEOUT,
          false,
          splits,
          null,
          true);
    }

    void writeTo(StreamOutput out) throws IOException {
      shardId.writeTo(out);
      OriginalIndices.writeOriginalIndices(names, out);
      aliasFilter.writeTo(out);
      splits.writeTo(out);
    }
  }

  ShardRequest(ShardTarget target) {
    this.target = target;
  }

  ShardRequest(StreamInput in) throws IOException {
    super(in);
    target = ShardTarget.readFrom(in);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    target.writeTo(out);
  }

  ShardTarget target() {
    return target;
  }

  @Override
  public String[] indices() {
    return target.names().indices();
  }

  @Override
  public IndicesOptions indicesOptions() {
    return target.names().indicesOptions();
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parentTaskId, Map<String, String> headers) {
    return new BatchSearchTask(id, type, action, getDescription(), parentTaskId, headers);
  }
}
