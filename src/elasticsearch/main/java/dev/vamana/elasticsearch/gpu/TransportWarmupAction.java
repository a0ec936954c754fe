package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.ShardsAction;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.util.concurrent.ThrottledTaskRunner;
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

/**
 * Uploads the segments of indices to the devices of the nodes that hold them, and compares the
 * segments' files with their checksums.
 */
public final class TransportWarmupAction
    extends ShardsAction<WarmupRequest, WarmupResponse, ShardWarmth> {

  /** The action. */
  public static final ActionType<WarmupResponse> TYPE =
      new ActionType<>("indices:admin/vamana/warmup");

  /** Number of shards whose files a node compares with their checksums at a time. */
  private static final int MOST_CHECKS = 2;

  private final DamagedFiles damaged;
  private final ThreadPool threads;
  private final Executor executor;
  private final Executor checks;

  /** Called by the node. */
  @Inject
  public TransportWarmupAction(
      ClusterService cluster,
      TransportService transport,
      IndicesService indices,
      ActionFilters filters,
      ProjectResolver projects,
      IndexNameExpressionResolver names,
      DamagedFiles damaged) {
    super(
        new Messages<>(TYPE, WarmupRequest::new, ShardWarmth::read, WarmupResponse::new),
        cluster,
        transport,
        indices,
        filters,
        projects,
        names);
    this.damaged = damaged;
    this.threads = transport.getThreadPool();
    this.executor = threads.executor(ThreadPool.Names.MANAGEMENT);
    // checks read whole files for up to an hour; recoveries and others need the generic pool, too
    this.checks =
        new ThrottledTaskRunner("vamana_warmup_checks", MOST_CHECKS, threads.generic())
            .asExecutor();
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
          BooleanSupplier closed =
              () -> {
                if (task instanceof CancellableTask cancellable) {
                  cancellable.ensureNotCancelled();
                }
                return shard.state() == IndexShardState.CLOSED;
              };
          boolean waits = request.waitForCompletion();
          long end = System.nanoTime() + request.uploadTimeout().nanos();
          UploadWait.begin(
              threads,
              executor,
              segments,
              waits ? request.uploadTimeout() : TimeValue.ZERO,
              closed,
              answer.delegateFailureAndWrap(
                  (next, over) -> {
                    if (waits && over == false) {
                      checks.execute(
                          ActionRunnable.supply(
                              next, () -> check(routing, shard, segments, closed, end)));
                    } else {
                      next.onResponse(new ShardWarmth(routing, segments.reports(), waits && over));
                    }
                  }));
        });
  }

  /** Tells that the time of a warm-up is over. */
  private static final class TimeIsOver extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /**
   * Compares files that no upload has compared, for instance all on a node without a device. A
   * shard with a damaged file fails when the answer has been made.
   */
  private ShardWarmth check(
      ShardRouting routing,
      IndexShard shard,
      ShardSegments segments,
      BooleanSupplier closed,
      long end)
      throws IOException {
    Map<String, CorruptIndexException> found = new LinkedHashMap<>();
    try {
      boolean late = check(segments, closed, end, found);
      return new ShardWarmth(routing, segments.reports(), late);
    } finally {
      found.forEach((segment, cause) -> damaged.found(shard, segment, cause));
    }
  }

  /** Returns whether the time ran out before all files were compared. */
  private static boolean check(
      ShardSegments segments,
      BooleanSupplier closed,
      long end,
      Map<String, CorruptIndexException> found)
      throws IOException {
    try {
      segments.check(
          () -> {
            if (closed.getAsBoolean()) {
              throw new AlreadyClosedException("the shard is closed");
            }
            if (System.nanoTime() - end >= 0) {
              throw new TimeIsOver();
            }
          },
          found::putIfAbsent);
      return false;
    } catch (TimeIsOver e) {
      return true;
    } catch (AlreadyClosedException e) {
      // an upload may have found a damaged file, for which the shard failed: that is the answer
      if (segments.damaged()) {
        return false;
      }
      throw e;
    }
  }
}
