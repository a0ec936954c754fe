package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.ShardsAction;
import dev.vamana.elasticsearch.monitor.recall.RecallMonitor;
import java.io.IOException;
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
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.transport.TransportService;

/** Collects the vector fields of the segments of all copies of shards. */
public final class TransportSegmentsAction
    extends ShardsAction<SegmentsRequest, SegmentsResponse, SegmentsResponse.OfShard> {

  /** The action. It requires the privilege to monitor the index. */
  public static final ActionType<SegmentsResponse> TYPE =
      new ActionType<>("indices:monitor/vamana/segments");

  /** The setting of an index whose segments are listed even if they are in other formats. */
  private static final String OPT_IN = "index.vamana.enabled";

  private final RecallMonitor recall;

  /** Called by the node. */
  @Inject
  public TransportSegmentsAction(
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ProjectResolver projects,
      ActionFilters filters,
      IndexNameExpressionResolver resolver,
      RecallMonitor recall) {
    super(
        new Messages<>(
            TYPE, SegmentsRequest::new, SegmentsResponse.OfShard::read, SegmentsResponse::new),
        cluster,
        transport,
        indices,
        filters,
        projects,
        resolver);
    this.recall = recall;
  }

  @Override
  protected void shardOperation(
      SegmentsRequest request,
      ShardRouting routing,
      IndexShard shard,
      Task task,
      ActionListener<SegmentsResponse.OfShard> listener) {
    ActionListener.completeWith(
        listener,
        () -> {
          if (task instanceof CancellableTask cancellable) {
            cancellable.ensureNotCancelled();
          }
          return segments(routing, shard);
        });
  }

  private SegmentsResponse.OfShard segments(ShardRouting routing, IndexShard shard)
      throws IOException {
    boolean stock = shard.indexSettings().getSettings().hasValue(OPT_IN);
    try (Engine.Searcher searcher = shard.acquireSearcher("vamana_segments")) {
      return new SegmentsResponse.OfShard(
          routing.getIndexName(),
          routing.id(),
          routing.primary(),
          clusterService.localNode().getName(),
          SegmentLister.list(searcher.getIndexReader(), stock),
          recall.of(shard.shardId()));
    }
  }
}
