package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.transport.AbstractTransportRequest;

/** Asks a node for the nearest documents of all vectors of a batch in some of its shards. */
final class NodeQueryRequest extends AbstractTransportRequest implements IndicesRequest {

  private final ShardQuery query;
  private final List<ShardTarget> shards;
  private final int mostTogether;
  private final FetchSpec fetch;

  /**
   * Makes a request.
   *
   * @param shards the shards, at least one
   * @param mostTogether most shards that are searched at a time, at least 1
   * @param fetch the parts of the hits to read in the same request, of one shard only; null to keep
   *     the readers of shards with hits open for {@link ShardFetchRequest}s
   */
  NodeQueryRequest(ShardQuery query, List<ShardTarget> shards, int mostTogether, FetchSpec fetch) {
    this.query = query;
    this.shards = shards;
    this.mostTogether = mostTogether;
    this.fetch = fetch;
  }

  NodeQueryRequest(StreamInput in) throws IOException {
    super(in);
    int version = WireVersion.read(in);
    query = ShardQuery.readFrom(in);
    shards = in.readCollectionAsImmutableList(ShardTarget::readFrom);
    mostTogether = in.readVInt();
    fetch = in.readOptionalWriteable(FetchSpec::readFrom);
    WireVersion.end(in, version);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    WireVersion.write(out);
    query.writeTo(out);
    out.writeCollection(shards);
    out.writeVInt(mostTogether);
    out.writeOptionalWriteable(fetch);
  }

  ShardQuery query() {
    return query;
  }

  List<ShardTarget> shards() {
    return shards;
  }

  int mostTogether() {
    return mostTogether;
  }

  FetchSpec fetch() {
    return fetch;
  }

  @Override
  public String[] indices() {
    return shards.stream()
        .flatMap(shard -> Arrays.stream(shard.names().indices()))
        .distinct()
        .toArray(String[]::new);
  }

  @Override
  public IndicesOptions indicesOptions() {
    return shards.get(0).names().indicesOptions();
  }

  @Override
  public String getDescription() {
    return "shards"
        + shards.stream().map(ShardTarget::shardId).toList()
        + ", field["
        + query.field()
        + "], vectors["
        + query.vectors().count()
        + "], k["
        + query.k()
        + "], num_candidates["
        + query.numCandidates()
        + "]";
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parentTaskId, Map<String, String> headers) {
    return new BatchSearchTask(id, type, action, getDescription(), parentTaskId, headers);
  }
}
