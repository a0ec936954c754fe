package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.BreakerCharge;
import dev.vamana.elasticsearch.search.Elapsed;
import java.util.Arrays;
import java.util.List;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.ParentTaskAssigningClient;
import org.elasticsearch.cluster.metadata.IndexAbstraction;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.index.Index;
import org.elasticsearch.index.reindex.BulkByPaginatedSearchResponse;
import org.elasticsearch.index.reindex.BulkByPaginatedSearchTask;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/**
 * Finds the nearest documents of every document of an index, on the node that receives the request.
 * It sends requests to the cluster as the user: reading, searching and writing need the same
 * privileges as in separate requests.
 */
public final class TransportNeighborsAction
    extends TransportAction<NeighborsRequest, BulkByPaginatedSearchResponse> {

  /** The action. It requires the privilege to read the index. */
  public static final ActionType<BulkByPaginatedSearchResponse> TYPE =
      new ActionType<>("indices:data/read/vamana/neighbors");

  private final TransportService transport;
  private final Client client;
  private final ClusterService cluster;
  private final ProjectResolver projects;
  private final IndexNameExpressionResolver names;
  private final SearchService service;
  private final ThreadPool threads;

  /** Called by the node. */
  @Inject
  public TransportNeighborsAction(
      TransportService transport,
      ActionFilters filters,
      Client client,
      ClusterService cluster,
      ProjectResolver projects,
      IndexNameExpressionResolver names,
      SearchService service,
      ThreadPool threads) {
    super(
        TYPE.name(),
        filters,
        transport.getTaskManager(),
        threads.executor(ThreadPool.Names.GENERIC));
    this.transport = transport;
    this.client = client;
    this.cluster = cluster;
    this.projects = projects;
    this.names = names;
    this.service = service;
    this.threads = threads;
  }

  @Override
  protected void doExecute(
      Task task, NeighborsRequest request, ActionListener<BulkByPaginatedSearchResponse> listener) {
    Elapsed elapsed = Elapsed.now();
    BulkByPaginatedSearchTask own = (BulkByPaginatedSearchTask) task;
    own.setWorker(request.requestsPerSecond(), null);
    ActionListener<Void> done =
        listener
            .<Void>map(ended -> response(elapsed, own.getStatus(), own.getReasonCancelled()))
            .delegateResponse(
                (next, failure) -> {
                  String reason = cancelled(own, failure);
                  if (reason != null) {
                    listener.onResponse(response(elapsed, own.getStatus(), reason));
                  } else {
                    next.onFailure(failure);
                  }
                });
    ActionListener.run(done, next -> start(own, request, next));
  }

  private static BulkByPaginatedSearchResponse response(
      Elapsed elapsed, BulkByPaginatedSearchTask.Status status, String cancelled) {
    BulkByPaginatedSearchTask.Status last =
        new BulkByPaginatedSearchTask.Status(
            null,
            status.getTotal(),
            status.getUpdated(),
            status.getCreated(),
            status.getDeleted(),
            status.getBatches(),
            status.getVersionConflicts(),
            status.getNoops(),
            status.getBulkRetries(),
            status.getSearchRetries(),
            status.getThrottled(),
            status.getRequestsPerSecond(),
            cancelled,
            status.getThrottledUntil());
    return new BulkByPaginatedSearchResponse(elapsed.time(), last, List.of(), List.of(), false);
  }

  /**
   * Why a run was cancelled; null if it was not. Elasticsearch cancels the searches of a task
   * before the task itself, so a run can end before it is told.
   */
  private static String cancelled(CancellableTask task, Exception failure) {
    if (task.isCancelled()) {
      return task.getReasonCancelled();
    }
    return ExceptionsHelper.unwrapCausesAndSuppressed(
            failure, cause -> cause instanceof TaskCancelledException)
        .map(Throwable::getMessage)
        .orElse(null);
  }

  private void start(
      BulkByPaginatedSearchTask task, NeighborsRequest request, ActionListener<Void> done) {
    NeighborsRequest.Options options = request.options();
    ProjectMetadata project = projects.getProjectMetadata(cluster.state());
    String[] sources = names.concreteIndexNames(project, request);
    if (sources.length != 1) {
      throw new IllegalArgumentException(
          "[index] is "
              + Arrays.toString(request.indices())
              + ", which names "
              + Arrays.toString(sources)
              + ", allowed is one index");
    }
    boolean exists = existsApart(project, options.destIndex(), sources[0]);
    Client asTask = new ParentTaskAssigningClient(client, transport.getLocalNode(), task);
    DestIndex dest =
        new DestIndex(
            asTask, threads, options.destIndex(), options.destField(), task.getWorkerState());
    SourceIndex source = new SourceIndex(asTask, client, request);
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    ActionListener<Void> ending =
        ActionListener.runBefore(
            done.delegateFailureAndWrap(
                (next, ended) -> {
                  if (request.refresh()) {
                    dest.refresh(next);
                  } else {
                    next.onResponse(null);
                  }
                }),
            () -> {
              source.close();
              charge.close();
            });
    NeighborsRun run = new NeighborsRun(task, request, asTask, source, dest, charge, threads);
    int processors = EsExecutors.allocatedProcessors(cluster.getSettings());
    SourceField.check(
        asTask,
        request,
        done.delegateFailureAndWrap(
            (next, fit) -> {
              if (exists) {
                run.start(processors, ending);
              } else {
                dest.create(
                    next.delegateFailureAndWrap((last, created) -> run.start(processors, ending)));
              }
            }));
  }

  /**
   * Whether the index to write to exists.
   *
   * @throws IllegalArgumentException if it is the index that is read
   */
  private boolean existsApart(ProjectMetadata project, String dest, String source) {
    String resolved = IndexNameExpressionResolver.resolveDateMathExpression(dest);
    IndexAbstraction found = project.getIndicesLookup().get(resolved);
    if (found == null) {
      return false;
    }
    if (found.getIndices().stream().map(Index::getName).anyMatch(source::equals)) {
      throw new IllegalArgumentException(
          "[dest.index] is ["
              + dest
              + "], whose documents would be overwritten, allowed is an index other than ["
              + source
              + "]");
    }
    return true;
  }
}
