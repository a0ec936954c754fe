package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.BatchSearchResponse;
import dev.vamana.elasticsearch.search.BreakerCharge;
import dev.vamana.elasticsearch.search.ColumnarHits;
import dev.vamana.elasticsearch.search.TransportBatchSearchAction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.support.RefCountingListener;
import org.elasticsearch.client.internal.Client;

/**
 * Finds and writes the neighbours of the documents of a slice, batch by batch. While a batch is
 * searched, the next one is read and the one before is written.
 */
final class SliceRun {

  private final NeighborsTask task;
  private final NeighborsRequest request;
  private final Client client;
  private final SourcePages pages;
  private final DestIndex dest;
  private final BreakerCharge charge;
  private final Executor executor;
  private final BooleanSupplier stopped;
  private final ActionListener<Void> done;

  /**
   * What a batch found.
   *
   * @param documents the documents to write
   * @param skipped documents of the batch that were left out
   */
  private record Found(List<IndexRequest> documents, int skipped) {}

  /**
   * Makes a run.
   *
   * @param client searches for the task of the run
   * @param pages the documents of the slice
   * @param charge charged for the vectors that were read and not yet searched
   * @param executor runs what follows a batch
   * @param stopped whether to end before the next batch
   * @param done notified of the end
   */
  SliceRun(
      NeighborsTask task,
      NeighborsRequest request,
      Client client,
      SourcePages pages,
      DestIndex dest,
      BreakerCharge charge,
      Executor executor,
      BooleanSupplier stopped,
      ActionListener<Void> done) {
    this.task = task;
    this.request = request;
    this.client = client;
    this.pages = pages;
    this.dest = dest;
    this.charge = charge;
    this.executor = executor;
    this.stopped = stopped;
    this.done = done;
  }

  /** Reads the first batch and begins. Returns at once. */
  void start() {
    ActionListener.run(
        done.<Page>delegateFailureAndWrap((reading, first) -> next(first, null)), this::read);
  }

  private void next(Page page, Found found) {
    executor.execute(ActionRunnable.wrap(done, ending -> batch(page, found)));
  }

  /** Searches a page and writes what the one before it found; null for none. */
  private void batch(Page page, Found found) {
    if (stopped.getAsBoolean() || (page == null && found == null)) {
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
        if (page.size() == request.options().batchSize()) {
          ActionListener.run(parts.<Page>acquire(read::set), this::read);
        }
        ActionListener.run(parts.<Found>acquire(searched::set), next -> search(page, next));
      }
      if (found != null) {
        ActionListener.run(parts.acquire(), next -> write(found, next));
      }
    }
  }

  /** Reads a page; null behind the last one. */
  private void read(ActionListener<Page> next) {
    pages.next(
        next.map(
            page -> {
              charge.add(page.ramBytesUsed());
              return page.size() == 0 ? null : page;
            }));
  }

  private void search(Page page, ActionListener<Found> next) {
    ActionListener<Found> releasing =
        next.map(
            found -> {
              charge.release(page.ramBytesUsed());
              return found;
            });
    if (request.options().resume()) {
      dest.present(
          page.ids(),
          releasing.delegateFailureAndWrap(
              (searching, present) -> searchAll(page.without(present), present.size(), searching)));
    } else {
      searchAll(page, 0, releasing);
    }
  }

  private void searchAll(Page page, int skipped, ActionListener<Found> next) {
    if (page.size() == 0) {
      next.onResponse(new Found(List.of(), skipped));
      return;
    }
    client.execute(
        TransportBatchSearchAction.TYPE,
        request.search().vectors(page.queries()),
        next.map(response -> new Found(documents(page, response), skipped)));
  }

  private List<IndexRequest> documents(Page page, BatchSearchResponse response) throws IOException {
    ColumnarHits hits = (ColumnarHits) response.hits();
    List<IndexRequest> documents = new ArrayList<>(page.size());
    int hit = 0;
    for (int i = 0; i < page.size(); i++) {
      String id = page.ids().get(i);
      List<String> neighbors = new ArrayList<>();
      List<Float> scores = new ArrayList<>();
      for (; hit < hits.ends()[i]; hit++) {
        String neighbor = hits.id(hit);
        if (neighbors.size() < request.options().k() && neighbor.equals(id) == false) {
          neighbors.add(neighbor);
          scores.add(hits.scores()[hit]);
        }
      }
      documents.add(dest.document(id, neighbors, scores));
    }
    return documents;
  }

  private void write(Found found, ActionListener<Void> next) {
    if (found.documents().isEmpty()) {
      task.count(counts -> counts.withBatch(0, 0, found.skipped()));
      next.onResponse(null);
      return;
    }
    dest.write(
        found.documents(),
        next.map(
            written -> {
              task.count(
                  counts ->
                      counts.withBatch(written.created(), written.updated(), found.skipped()));
              return null;
            }));
  }
}
