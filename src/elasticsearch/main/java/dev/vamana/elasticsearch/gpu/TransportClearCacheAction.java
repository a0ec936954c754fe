package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.ShardsAction;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.transport.TransportService;

/** Removes the segments of indices from the devices of the nodes that hold them. */
public final class TransportClearCacheAction
    extends ShardsAction<ClearCacheRequest, ClearCacheResponse, ShardCleared> {

  /** The action. */
  public static final ActionType<ClearCacheResponse> TYPE =
      new ActionType<>("indices:admin/vamana/clear_cache");

  /** Called by the node. */
  @Inject
  public TransportClearCacheAction(
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ActionFilters filters,
      ProjectResolver projects,
      IndexNameExpressionResolver names) {
    super(
        new Messages<>(TYPE, ClearCacheRequest::new, ShardCleared::read, ClearCacheResponse::new),
        cluster,
        transport,
        indices,
        filters,
        projects,
        names);
  }

  @Override
  protected void shardOperation(
      ClearCacheRequest request,
      ShardRouting routing,
      IndexShard shard,
      Task task,
      ActionListener<ShardCleared> listener) {
    ActionListener.completeWith(
        listener,
        () -> {
          try (Engine.Searcher searcher = shard.acquireSearcher("vamana_clear_cache")) {
            ShardSegments segments = new ShardSegments(searcher.getIndexReader());
            return new ShardCleared(routing, segments.count(), segments.evict());
          }
        });
  }
}
