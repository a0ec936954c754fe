package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import dev.vamana.elasticsearch.search.BatchSearchResponse;
import dev.vamana.elasticsearch.search.TransportBatchSearchAction;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.action.support.ContextPreservingActionListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * The searches of a body of lines; each line is the body of one search. Lines of blanks are
 * skipped. Not thread-safe.
 */
final class SearchLines implements Releasable {
  private final Client client;
  private final RequestTemplate template;
  private final ReleasableBytesReference body;
  private final int length;
  private final Executor executor;
  private final ThreadContext context;
  private final Supplier<ThreadContext.StoredContext> ofRequest;
  private int start;
  private int end;

  /**
   * Makes the searches of a body. Call it on the thread of the HTTP request, whose context the
   * searches use.
   *
   * @param client runs the searches
   * @param body the body, released with this object
   */
  SearchLines(Client client, RequestTemplate template, ReleasableBytesReference body) {
    this.client = client;
    this.template = template;
    this.body = body;
    length = body.length();
    executor = client.threadPool().executor(ThreadPool.Names.SEARCH_COORDINATION);
    context = client.threadPool().getThreadContext();
    ofRequest = context.newRestorableContext(false);
    end = -1;
    advance();
  }

  /** Whether {@link #searchNext} has a line to search. May also be called after {@link #close}. */
  boolean hasNext() {
    return start < length;
  }

  /**
   * Searches for the next line's vectors.
   *
   * @param listener receives the hits; an invalid line is reported as a failed search
   */
  void searchNext(ActionListener<BatchSearchResponse> listener) {
    ReleasableBytesReference line = body.retainedSlice(start, end - start);
    advance();
    // restores the sender's context: later lines are requested by threads that write answers
    ThreadContext.StoredContext former = ofRequest.get();
    try {
      executor.execute(
          ActionRunnable.wrapReleasing(
              ContextPreservingActionListener.wrapPreservingContext(listener, context),
              line,
              searched -> {
                BatchSearchRequest request = template.request(line);
                client.execute(TransportBatchSearchAction.TYPE, request, searched);
              }));
    } finally {
      former.close();
    }
  }

  private void advance() {
    do {
      start = end + 1;
      int newline = start < length ? body.indexOf((byte) '\n', start) : -1;
      end = newline < 0 ? length : newline;
    } while (start < length && isBlank());
  }

  private boolean isBlank() {
    for (int i = start; i < end; i++) {
      byte c = body.get(i);
      if (c != ' ' && c != '\t' && c != '\r') {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    body.decRef();
  }
}
