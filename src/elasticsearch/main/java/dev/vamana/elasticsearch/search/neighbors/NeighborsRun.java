package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.BatchSearchResponse;
import dev.vamana.elasticsearch.search.BreakerCharge;
import dev.vamana.elasticsearch.search.ColumnarHits;
import dev.vamana.elasticsearch.search.TransportBatchSearchAction;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.support.RefCountingListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.util.concurrent.AbstractRunnable;
import org.elasticsearch.index.reindex.BulkByPaginatedSearchTask;
import org.elasticsearch.index.reindex.WorkerBulkByPaginatedSearchTaskState;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Finds and writes the neighbours of all documents of an index. Slices of it run side by side: one
 * thread of a shard reads a page, and between its pages a slice waits for the search, so one slice
 * would leave most processors, and a device that searches, idle. While a batch of a slice is
 * searched, the next one is read and the one before is written.
 *
 * <p>The server's worker of bulk tasks counts and throttles. It delays one batch at a time, so
 * slices queue for it.
 */
final class NeighborsRun {

  private final BulkByPaginatedSearchTask task;
  private final WorkerBulkByPaginatedSearchTaskState worker;
  private final NeighborsRequest request;
  private final NeighborsRequest.Options options;
  private final Client client;
  private final SourceIndex source;
  private final DestIndex dest;
  private final BreakerCharge charge;
  private final ThreadPool threads;
  private final Queue<Slice> waiting = new ArrayDeque<>();
  private boolean delaying;
  private long lastStart = System.nanoTime();
  private int lastSize;
  private volatile boolean failed;

  /**
   * Result of a batch.
   *
   * @param documents the documents to write
   * @param skipped documents of the batch that were left out
   */
  private record Found(List<IndexRequest> documents, int skipped) {}

  /**
   * Makes a run.
   *
   * @param task a worker
   * @param client searches for the task of the run
   * @param source the documents, not yet open
   * @param charge charged for the vectors that were read and not yet searched
   */
  NeighborsRun(
      BulkByPaginatedSearchTask task,
      NeighborsRequest request,
      Client client,
      SourceIndex source,
      DestIndex dest,
      BreakerCharge charge,
      ThreadPool threads) {
    this.task = task;
    this.worker = task.getWorkerState();
    this.request = request;
    this.options = request.options();
    this.client = client;
    this.source = source;
    this.dest = dest;
    this.charge = charge;
    this.threads = threads;
  }

  /**
   * Begins, and returns at once.
   *
   * @param processors processors of the node
   * @param done notified when all slices have ended; the caller then closes source and charge. If a
   *     slice fails, the others end before their next batches
   */
  void start(int processors, ActionListener<Void> done) {
    source.open(
        done.delegateFailureAndWrap(
            (next, documents) -> {
              worker.setTotal(documents);
              int slices = options.slices(documents, processors);
              try (RefCountingListener all = new RefCountingListener(next)) {
                for (int i = 0; i < slices; i++) {
                  new Slice(source.new Pages(i, slices), all.acquire()).start();
                }
              }
            }));
  }

  private synchronized void await(Slice slice) {
    waiting.add(slice);
    startNext();
  }

  private synchronized void startNext() {
    Slice slice = delaying ? null : waiting.poll();
    if (slice != null) {
      delaying = true;
      worker.delayPrepareBulkRequest(threads, lastStart, lastSize, slice);
    }
  }

  private synchronized void started(int size) {
    delaying = false;
    lastStart = System.nanoTime();
    lastSize = size;
    startNext();
  }

  /** A slice. One of its batches is searched at a time; it runs when its next batch may start. */
  private final class Slice extends AbstractRunnable {
    private final SourceIndex.Pages pages;
    private final ActionListener<Void> done;
    private Page page;
    private Found found;

    Slice(SourceIndex.Pages pages, ActionListener<Void> done) {
      this.pages = pages;
      this.done =
          done.delegateResponse(
              (next, failure) -> {
                failed = true;
                next.onFailure(failure);
              });
    }

    /** Reads the first page and begins. Returns at once. */
    void start() {
      ActionListener.run(
          done.<Page>delegateFailureAndWrap((reading, first) -> next(first, null)), this::read);
    }

    private void next(Page read, Found searched) {
      page = read;
      found = searched;
      await(this);
    }

    @Override
    protected void doRun() {
      started(page == null ? 0 : page.size());
      batch();
    }

    @Override
    public void onFailure(Exception e) {
      done.onFailure(e);
    }

    /** Searches a page and writes what the one before it found. */
    private void batch() {
      if (failed || (page == null && found == null)) {
        done.onResponse(null);
        return;
      }
      task.ensureNotCancelled();
      AtomicReference<Page> read = new AtomicReference<>();
      AtomicReference<Found> searched = new AtomicReference<>();
      ActionListener<Void> all =
          done.delegateFailureAndWrap((ending, none) -> next(read.get(), searched.get()));
      try (RefCountingListener parts = new RefCountingListener(all)) {
        if (page != null) {
          if (page.size() == options.batchSize()) {
            ActionListener.run(parts.<Page>acquire(read::set), this::read);
          }
          ActionListener.run(parts.<Found>acquire(searched::set), this::search);
        }
        if (found != null) {
          ActionListener.run(parts.acquire(), this::write);
        }
      }
    }

    /** Reads a page; null behind the last one. */
    private void read(ActionListener<Page> next) {
      pages.next(
          next.map(
              read -> {
                charge.add(read.ramBytesUsed());
                return read.size() == 0 ? null : read;
              }));
    }

    private void search(ActionListener<Found> next) {
      long bytes = page.ramBytesUsed();
      ActionListener<Found> releasing =
          next.map(
              searched -> {
                charge.release(bytes);
                return searched;
              });
      if (options.resume()) {
        dest.present(
            page.ids(),
            releasing.delegateFailureAndWrap(
                (last, present) -> search(page.without(present), present.size(), last)));
      } else {
        search(page, 0, releasing);
      }
    }

    private void search(Page wanted, int skipped, ActionListener<Found> next) {
      if (wanted.size() == 0) {
        next.onResponse(new Found(List.of(), skipped));
        return;
      }
      client.execute(
          TransportBatchSearchAction.TYPE,
          request.search().vectors(wanted.queries()),
          next.map(response -> new Found(documents(wanted, response), skipped)));
    }

    private List<IndexRequest> documents(Page wanted, BatchSearchResponse response)
        throws IOException {
      ColumnarHits hits = (ColumnarHits) response.hits();
      List<IndexRequest> documents = new ArrayList<>(wanted.size());
      int hit = 0;
      for (int i = 0; i < wanted.size(); i++) {
        String id = wanted.ids().get(i);
        List<String> neighbors = new ArrayList<>();
        List<Float> scores = new ArrayList<>();
        for (; hit < hits.ends()[i]; hit++) {
          String neighbor = hits.ids()[hit];
          if (neighbors.size() < options.k() && neighbor.equals(id) == false) {
            neighbors.add(neighbor);
            scores.add(hits.scores()[hit]);
          }
        }
        documents.add(dest.document(id, neighbors, scores));
      }
      return documents;
    }

    private void write(ActionListener<Void> next) {
      Found written = found;
      for (int i = 0; i < written.skipped(); i++) {
        worker.countNoop();
      }
      dest.write(
          written.documents(),
          next.map(
              ended -> {
                worker.countBatch();
                return null;
              }));
    }
  }
}
