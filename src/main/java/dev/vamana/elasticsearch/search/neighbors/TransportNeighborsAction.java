package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.BreakerCharge;
import dev.vamana.elasticsearch.search.Elapsed;
import java.util.Arrays;
import java.util.concurrent.Executor;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.HandledTransportAction;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.ParentTaskAssigningClient;
import org.elasticsearch.cluster.metadata.IndexAbstraction;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.index.Index;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/**
 * Finds the nearest documents of every document of an index, on the node that receives the request.
 * What it asks of the cluster it asks for the user: reading, searching and writing need the same
 * privileges as in requests of their own.
 */
public final class TransportNeighborsAction
    extends HandledTransportAction<NeighborsRequest, NeighborsResponse> {

  /** The action. It requires the privilege to read the index. */
  public static final ActionType<NeighborsResponse> TYPE =
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
        transport,
        filters,
        NeighborsRequest::new,
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
      Task task, NeighborsRequest request, ActionListener<NeighborsResponse> listener) {
    Elapsed elapsed = Elapsed.now();
    NeighborsTask own = (NeighborsTask) task;
    ActionListener<Void> done =
        listener
            .<Void>map(ended -> new NeighborsResponse(elapsed.time(), own.getStatus(), null))
            .delegateResponse(
                (next, failure) -> {
                  String reason = cancelled(own, failure);
                  if (reason != null) {
                    listener.onResponse(
                        new NeighborsResponse(elapsed.time(), own.getStatus(), reason));
                  } else {
                    next.onFailure(failure);
                  }
                });
    ActionListener.run(done, next -> start(own, request, next));
  }

  /**
   * Why a run was cancelled; null if it was not. Elasticsearch cancels the searches of a task
   * before the task itself, so a run can end before it is told.
   */
  private static String cancelled(NeighborsTask task, Exception failure) {
    if (task.isCancelled()) {
      return task.getReasonCancelled();
    }
    return ExceptionsHelper.unwrapCausesAndSuppressed(
            failure, cause -> cause instanceof TaskCancelledException)
        .map(Throwable::getMessage)
        .orElse(null);
  }

  private void start(NeighborsTask task, NeighborsRequest request, ActionListener<Void> done) {
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
    DestIndex dest = new DestIndex(asTask, threads, options.destIndex(), options.destField());
    Snapshot snapshot = new Snapshot(asTask, client, request);
    BreakerCharge charge = new BreakerCharge(service.getCircuitBreaker());
    Executor executor = threads.executor(ThreadPool.Names.GENERIC);
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
              snapshot.close();
              charge.close();
            });
    NeighborsRun run = new NeighborsRun(task, request, asTask, snapshot, dest, charge, executor);
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
