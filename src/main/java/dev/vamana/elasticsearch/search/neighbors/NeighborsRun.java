package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.BreakerCharge;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.support.RefCountingListener;
import org.elasticsearch.client.internal.Client;

/**
 * Finds and writes the neighbours of all documents of an index. Slices of it run side by side: one
 * thread of a shard reads a page, and between its pages a slice waits for the search, so one slice
 * would leave most processors, and a device that searches, idle.
 */
final class NeighborsRun {

  private final NeighborsTask task;
  private final NeighborsRequest request;
  private final Client client;
  private final Snapshot snapshot;
  private final DestIndex dest;
  private final BreakerCharge charge;
  private final Executor executor;
  private final AtomicBoolean failed = new AtomicBoolean();

  /**
   * Makes a run.
   *
   * @param client searches for the task of the run
   * @param snapshot the documents, not yet open
   * @param charge charged for the vectors that were read and not yet searched
   * @param executor runs what follows a batch
   */
  NeighborsRun(
      NeighborsTask task,
      NeighborsRequest request,
      Client client,
      Snapshot snapshot,
      DestIndex dest,
      BreakerCharge charge,
      Executor executor) {
    this.task = task;
    this.request = request;
    this.client = client;
    this.snapshot = snapshot;
    this.dest = dest;
    this.charge = charge;
    this.executor = executor;
  }

  /**
   * Begins, and returns at once.
   *
   * @param processors processors of the node
   * @param done notified when all slices have ended; the caller then closes snapshot and charge. If
   *     a slice fails, the others end before their next batches
   */
  void start(int processors, ActionListener<Void> done) {
    snapshot.open(
        done.delegateFailureAndWrap(
            (next, documents) -> {
              task.count(counts -> counts.withTotal(documents));
              run(request.options().slices(documents, processors), next);
            }));
  }

  private void run(int slices, ActionListener<Void> done) {
    try (RefCountingListener all = new RefCountingListener(done)) {
      for (SourcePages pages : snapshot.slices(slices)) {
        ActionListener<Void> ended =
            all.acquire()
                .delegateResponse(
                    (next, failure) -> {
                      failed.set(true);
                      next.onFailure(failure);
                    });
        new SliceRun(task, request, client, pages, dest, charge, executor, failed::get, ended)
            .start();
      }
    }
  }
}
