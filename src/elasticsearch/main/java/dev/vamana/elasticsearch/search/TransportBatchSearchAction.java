package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.gpu.SearchWorkers;
import dev.vamana.elasticsearch.monitor.recall.RecallMonitor;
import dev.vamana.elasticsearch.monitor.recall.RecallSampler;
import java.util.concurrent.Executor;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.search.SearchTransportService;
import org.elasticsearch.action.search.TransportSearchAction;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.ChannelActionListener;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.cluster.ProjectState;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.index.query.QueryRewriteContext;
import org.elasticsearch.index.query.Rewriteable;
import org.elasticsearch.indices.ExecutorSelector;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.monitor.jvm.JvmInfo;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/**
 * Finds the nearest documents of many query vectors: resolves the indices, sends the whole batch to
 * each node once, and merges the hits of its shards.
 */
public final class TransportBatchSearchAction
    extends TransportAction<BatchSearchRequest, BatchSearchResponse> {

  /** The action. It requires the privilege to read the indices. */
  public static final ActionType<BatchSearchResponse> TYPE =
      new ActionType<>("indices:data/read/vamana/search");

  /** Name of the action that searches the shards of a node. */
  static final String QUERY = TYPE.name() + "[node]";

  /** Name of the action that fetches documents from a shard and closes the reader. */
  static final String FETCH = TYPE.name() + "[shard/fetch]";

  /** Share of the heap that the messages of one search may take at a time, as a divisor. */
  private static final int MESSAGES_OF_HEAP = 10;

  private final TransportService transport;
  private final ClusterService cluster;
  private final ProjectResolver projects;
  private final IndexNameExpressionResolver names;
  private final SearchService service;
  private final SearchTransportService readers;
  private final ThreadPool threadPool;

  /** Called by the node. */
  @Inject
  public TransportBatchSearchAction(
      TransportService transport,
      ActionFilters filters,
      ClusterService cluster,
      ProjectResolver projects,
      IndexNameExpressionResolver names,
      SearchService service,
      SearchTransportService readers,
      ExecutorSelector executors,
      ThreadPool threadPool,
      RecallMonitor recall,
      IdCache ids) {
    super(
        TYPE.name(),
        filters,
        transport.getTaskManager(),
        threadPool.executor(ThreadPool.Names.SEARCH_COORDINATION));
    this.transport = transport;
    this.cluster = cluster;
    this.projects = projects;
    this.names = names;
    this.service = service;
    this.readers = readers;
    this.threadPool = threadPool;
    ShardSearches shards =
        new ShardSearches(
            service,
            threadPool,
            executors,
            pool -> SearchWorkers.of(pool, cluster.getSettings()),
            new RecallSampler(recall),
            ids);
    transport.registerRequestHandler(
        QUERY,
        threadPool.executor(ThreadPool.Names.SEARCH_COORDINATION),
        NodeQueryRequest::new,
        (request, channel, task) ->
            shards.query(request, (BatchSearchTask) task, new ChannelActionListener<>(channel)));
    transport.registerRequestHandler(
        FETCH,
        EsExecutors.DIRECT_EXECUTOR_SERVICE,
        ShardFetchRequest::new,
        (request, channel, task) ->
            shards.fetch(request, (BatchSearchTask) task, new ChannelActionListener<>(channel)));
  }

  @Override
  protected void doExecute(
      Task task, BatchSearchRequest request, ActionListener<BatchSearchResponse> listener) {
    Elapsed elapsed = Elapsed.now();
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    ActionListener<BatchSearchResponse> answer =
        ActionListener.wrap(
            listener::onResponse,
            failure -> {
              charge.close();
              listener.onFailure(failure);
            });
    ActionListener.run(
        answer, next -> start((BatchSearchTask) task, request, elapsed, charge, next));
  }

  private void start(
      BatchSearchTask task,
      BatchSearchRequest request,
      Elapsed elapsed,
      BreakerCharge charge,
      ActionListener<BatchSearchResponse> answer) {
    charge.add(request.vectors().ramBytesUsed());
    long nowMillis = threadPool.absoluteTimeInMillis();
    ProjectState project = projects.getProjectState(cluster.state());
    ShardTargets targets =
        ShardTargets.resolve(
            request,
            project,
            names,
            transport.getRemoteClusterService(),
            cluster.operationRouting(),
            service,
            cluster.getClusterSettings().get(TransportSearchAction.SHARD_COUNT_LIMIT_SETTING),
            nowMillis);
    QueryRewriteContext rewriting =
        service.getRewriteContext(
            () -> nowMillis,
            project.cluster().getMinTransportVersion(),
            null,
            targets.indices(),
            null,
            null);
    Executor executor = threadPool.executor(ThreadPool.Names.SEARCH_COORDINATION);
    BatchSearchRun.Nodes nodes =
        new TransportNodes(transport, readers, project.cluster().nodes(), executor, task);
    long heap = JvmInfo.jvmInfo().getMem().getHeapMax().getBytes();
    int together =
        Math.clamp(heap / MESSAGES_OF_HEAP / request.vectors().ramBytesUsed(), 1, 1 << 10);
    Rewriteable.rewriteAndFetch(
        QueryFilters.of(request.filters()),
        rewriting,
        executor,
        answer.delegateFailureAndWrap(
            (next, filters) ->
                new BatchSearchRun(
                        nodes,
                        elapsed,
                        task,
                        targets.shards(),
                        together,
                        request.maxConcurrentShardRequests(),
                        request.shardQuery(
                            filters,
                            cluster
                                .getClusterSettings()
                                .get(SearchService.DEFAULT_SEARCH_TIMEOUT_SETTING),
                            service.defaultAllowPartialSearchResults(),
                            nowMillis),
                        request.fetch(),
                        request.profile(),
                        charge,
                        next)
                    .start()));
  }
}
