package dev.vamana.elasticsearch.residency;

import java.io.IOException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.broadcast.BroadcastRequest;
import org.elasticsearch.action.support.broadcast.BroadcastResponse;
import org.elasticsearch.action.support.broadcast.node.TransportBroadcastByNodeAction;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.block.ClusterBlockException;
import org.elasticsearch.cluster.block.ClusterBlockLevel;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.routing.ShardsIterator;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Asks every copy of every shard of some indices. */
abstract class ShardsAction<
        Q extends BroadcastRequest<Q>, R extends BroadcastResponse, S extends ShardResult>
    extends TransportBroadcastByNodeAction<Q, R, S, Void> {

  private final IndicesService indices;
  private final ProjectResolver projects;
  private final Writeable.Reader<Q> reader;

  ShardsAction(
      ActionType<R> type,
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ActionFilters filters,
      ProjectResolver projects,
      IndexNameExpressionResolver names,
      Writeable.Reader<Q> reader) {
    super(
        type.name(),
        cluster,
        transport,
        filters,
        names,
        reader,
        transport.getThreadPool().executor(ThreadPool.Names.MANAGEMENT));
    this.indices = indices;
    this.projects = projects;
    this.reader = reader;
  }

  /** Asks one copy on this node. */
  abstract void shardOperation(
      Q request, ShardRouting routing, IndexShard shard, Task task, ActionListener<S> listener);

  @Override
  protected void shardOperation(
      Q request, ShardRouting routing, Task task, Void context, ActionListener<S> listener) {
    IndexShard shard =
        indices.indexServiceSafe(routing.shardId().getIndex()).getShard(routing.shardId().id());
    shardOperation(request, routing, shard, task, listener);
  }

  @Override
  protected Q readRequestFrom(StreamInput in) throws IOException {
    return reader.read(in);
  }

  @Override
  protected ShardsIterator shards(ClusterState state, Q request, String[] concreteIndices) {
    return state.routingTable(projects.getProjectId()).allShards(concreteIndices);
  }

  @Override
  protected ClusterBlockException checkGlobalBlock(ClusterState state, Q request) {
    return state.blocks().globalBlockedException(ClusterBlockLevel.METADATA_READ);
  }

  @Override
  protected ClusterBlockException checkRequestBlock(
      ClusterState state, Q request, String[] concreteIndices) {
    return state
        .blocks()
        .indicesBlockedException(
            projects.getProjectId(), ClusterBlockLevel.METADATA_READ, concreteIndices);
  }
}
