package dev.vamana.elasticsearch.monitor;

import java.io.IOException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.broadcast.BaseBroadcastResponse;
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

/**
 * Base class of actions that ask every copy of every shard of some indices; runs on threads of the
 * management pool.
 *
 * @param <Q> the request
 * @param <R> the response
 * @param <S> the answer of one copy
 */
public abstract class ShardsAction<
        Q extends ShardsRequest<Q>, R extends BaseBroadcastResponse, S extends Writeable>
    extends TransportBroadcastByNodeAction<Q, R, S, Void> {

  private final IndicesService indices;
  private final ProjectResolver projects;
  private final Messages<Q, R, S> messages;

  /**
   * The action's type, and the readers and factories of its messages.
   *
   * @param type the action
   * @param request reads a request
   * @param result reads the answer of one copy
   * @param response makes the response
   */
  public record Messages<Q, R extends BaseBroadcastResponse, S extends Writeable>(
      ActionType<R> type,
      Writeable.Reader<Q> request,
      Writeable.Reader<S> result,
      ResponseFactory<R, S> response) {}

  /** Called by subclasses. */
  protected ShardsAction(
      Messages<Q, R, S> messages,
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ActionFilters filters,
      ProjectResolver projects,
      IndexNameExpressionResolver names) {
    super(
        messages.type().name(),
        cluster,
        transport,
        filters,
        names,
        messages.request(),
        transport.getThreadPool().executor(ThreadPool.Names.MANAGEMENT));
    this.indices = indices;
    this.projects = projects;
    this.messages = messages;
  }

  /** Runs the action on one copy on this node. */
  protected abstract void shardOperation(
      Q request, ShardRouting routing, IndexShard shard, Task task, ActionListener<S> listener);

  @Override
  protected final void shardOperation(
      Q request, ShardRouting routing, Task task, Void context, ActionListener<S> listener) {
    IndexShard shard =
        indices.indexServiceSafe(routing.shardId().getIndex()).getShard(routing.shardId().id());
    ActionListener<S> failing = ShardFailures.failing(shard, listener);
    ActionListener.run(failing, last -> shardOperation(request, routing, shard, task, last));
  }

  @Override
  protected final Q readRequestFrom(StreamInput in) throws IOException {
    return messages.request().read(in);
  }

  @Override
  protected final S readShardResult(StreamInput in) throws IOException {
    return messages.result().read(in);
  }

  @Override
  protected final ResponseFactory<R, S> getResponseFactory(Q request, ClusterState state) {
    return messages.response();
  }

  @Override
  protected final ShardsIterator shards(ClusterState state, Q request, String[] concreteIndices) {
    return state.routingTable(projects.getProjectId()).allShards(concreteIndices);
  }

  @Override
  protected final ClusterBlockException checkGlobalBlock(ClusterState state, Q request) {
    return state.blocks().globalBlockedException(ClusterBlockLevel.METADATA_READ);
  }

  @Override
  protected final ClusterBlockException checkRequestBlock(
      ClusterState state, Q request, String[] concreteIndices) {
    return state
        .blocks()
        .indicesBlockedException(
            projects.getProjectId(), ClusterBlockLevel.METADATA_READ, concreteIndices);
  }
}
