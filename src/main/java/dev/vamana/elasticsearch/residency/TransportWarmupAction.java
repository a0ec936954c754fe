package dev.vamana.elasticsearch.residency;

import dev.vamana.elasticsearch.shards.ShardsAction;
import java.util.concurrent.Executor;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.IndexShardState;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Uploads the segments of indices to the devices of the nodes that hold them. */
public final class TransportWarmupAction
    extends ShardsAction<WarmupRequest, WarmupResponse, ShardWarmth> {

  /** The action. */
  public static final ActionType<WarmupResponse> TYPE =
      new ActionType<>("indices:admin/vamana/warmup");

  private final ThreadPool threads;
  private final Executor executor;

  /** Called by the node. */
  @Inject
  public TransportWarmupAction(
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ActionFilters filters,
      ProjectResolver projects,
      IndexNameExpressionResolver names) {
    super(
        new Messages<>(TYPE, WarmupRequest::new, ShardWarmth::new, WarmupResponse::new),
        cluster,
        transport,
        indices,
        filters,
        projects,
        names);
    this.threads = transport.getThreadPool();
    this.executor = threads.executor(ThreadPool.Names.MANAGEMENT);
  }

  @Override
  protected void shardOperation(
      WarmupRequest request,
      ShardRouting routing,
      IndexShard shard,
      Task task,
      ActionListener<ShardWarmth> listener) {
    Engine.Searcher searcher = shard.acquireSearcher("vamana_warmup");
    ActionListener<ShardWarmth> last = ActionListener.runBefore(listener, searcher::close);
    ActionListener.run(
        last,
        answer -> {
          ShardSegments segments = new ShardSegments(searcher.getIndexReader());
          segments.warm();
          UploadWait.begin(
              threads,
              executor,
              segments,
              request.waitForCompletion() ? request.uploadTimeout() : TimeValue.ZERO,
              () -> {
                if (task instanceof CancellableTask cancellable) {
                  cancellable.ensureNotCancelled();
                }
                return shard.state() == IndexShardState.CLOSED;
              },
              answer.map(
                  over ->
                      new ShardWarmth(
                          routing, segments.reports(), over && request.waitForCompletion())));
        });
  }
}
