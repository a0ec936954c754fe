package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.ShardsAction;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.transport.TransportService;

/** Collects the recall of the searches of all copies of shards. */
public final class TransportRecallAction
    extends ShardsAction<RecallRequest, RecallResponse, RecallResponse.OfShard> {

  /** The action. It requires the privilege to monitor the index. */
  public static final ActionType<RecallResponse> TYPE =
      new ActionType<>("indices:monitor/vamana/recall");

  private final RecallMonitor monitor;

  /** Called by the node. */
  @Inject
  public TransportRecallAction(
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ProjectResolver projects,
      ActionFilters filters,
      IndexNameExpressionResolver resolver,
      RecallMonitor monitor) {
    super(
        new Messages<>(
            TYPE, RecallRequest::new, RecallResponse.OfShard::new, TransportRecallAction::response),
        cluster,
        transport,
        indices,
        filters,
        projects,
        resolver);
    this.monitor = monitor;
  }

  private static RecallResponse response(
      int total,
      int successful,
      int failed,
      List<RecallResponse.OfShard> results,
      List<DefaultShardOperationFailedException> failures) {
    return new RecallResponse(total, successful, failed, failures, results);
  }

  @Override
  protected void shardOperation(
      RecallRequest request,
      ShardRouting routing,
      IndexShard shard,
      Task task,
      ActionListener<RecallResponse.OfShard> listener) {
    ActionListener.completeWith(
        listener,
        () ->
            new RecallResponse.OfShard(
                routing.getIndexName(),
                routing.id(),
                clusterService.localNode().getName(),
                monitor.of(shard.shardId())));
  }
}
