package dev.vamana.elasticsearch.segments;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.broadcast.node.TransportBroadcastByNodeAction;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.block.ClusterBlockException;
import org.elasticsearch.cluster.block.ClusterBlockLevel;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.routing.ShardsIterator;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Collects the vector fields of segments from all copies of shards. */
public final class TransportSegmentsAction
    extends TransportBroadcastByNodeAction<
        SegmentsRequest, SegmentsResponse, SegmentsResponse.OfShard, Void> {

  /** The action; whoever may monitor an index may use it. */
  public static final ActionType<SegmentsResponse> TYPE =
      new ActionType<>("indices:monitor/vamana/segments");

  private final IndicesService indices;
  private final ProjectResolver projects;
  private final OptedIn optedIn;

  /**
   * Tells whether an index mentions the plugin, so that its segments of other formats are shown
   * too.
   */
  public static final class OptedIn {
    private final Predicate<Settings> settings;

    /** From an index's settings. */
    public OptedIn(Predicate<Settings> settings) {
      this.settings = Objects.requireNonNull(settings, "settings");
    }
  }

  /** Called by the node. */
  @Inject
  public TransportSegmentsAction(
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ProjectResolver projects,
      ActionFilters filters,
      IndexNameExpressionResolver resolver,
      OptedIn optedIn) {
    super(
        TYPE.name(),
        cluster,
        transport,
        filters,
        resolver,
        SegmentsRequest::new,
        transport.getThreadPool().executor(ThreadPool.Names.MANAGEMENT));
    this.indices = indices;
    this.projects = projects;
    this.optedIn = optedIn;
  }

  @Override
  protected SegmentsRequest readRequestFrom(StreamInput in) throws IOException {
    return new SegmentsRequest(in);
  }

  @Override
  protected SegmentsResponse.OfShard readShardResult(StreamInput in) throws IOException {
    return new SegmentsResponse.OfShard(in);
  }

  @Override
  protected ResponseFactory<SegmentsResponse, SegmentsResponse.OfShard> getResponseFactory(
      SegmentsRequest request, ClusterState state) {
    return (total, successful, failed, results, failures) ->
        new SegmentsResponse(
            total,
            successful,
            failed,
            failures,
            results.stream().flatMap(result -> result.segments().stream()).toList());
  }

  @Override
  protected ShardsIterator shards(ClusterState state, SegmentsRequest request, String[] names) {
    return state.routingTable(projects.getProjectId()).allShards(names);
  }

  @Override
  protected ClusterBlockException checkGlobalBlock(ClusterState state, SegmentsRequest request) {
    return state.blocks().globalBlockedException(ClusterBlockLevel.METADATA_READ);
  }

  @Override
  protected ClusterBlockException checkRequestBlock(
      ClusterState state, SegmentsRequest request, String[] names) {
    return state
        .blocks()
        .indicesBlockedException(projects.getProjectId(), ClusterBlockLevel.METADATA_READ, names);
  }

  @Override
  protected void shardOperation(
      SegmentsRequest request,
      ShardRouting routing,
      Task task,
      Void context,
      ActionListener<SegmentsResponse.OfShard> listener) {
    ActionListener.completeWith(
        listener,
        () -> {
          if (task instanceof CancellableTask cancellable) {
            cancellable.ensureNotCancelled();
          }
          return segments(routing);
        });
  }

  private SegmentsResponse.OfShard segments(ShardRouting routing) throws IOException {
    IndexShard shard = indices.indexServiceSafe(routing.index()).getShard(routing.shardId().id());
    DiscoveryNode node = clusterService.localNode();
    FieldSegment.ShardCopy copy =
        new FieldSegment.ShardCopy(
            routing.getIndexName(), routing.id(), routing.primary(), node.getId(), node.getName());
    boolean stock = optedIn.settings.test(shard.indexSettings().getSettings());
    try (Engine.Searcher searcher = shard.acquireSearcher("vamana_segments")) {
      List<FieldSegment> rows = SegmentLister.list(searcher.getIndexReader(), copy, stock);
      return new SegmentsResponse.OfShard(rows);
    }
  }
}
