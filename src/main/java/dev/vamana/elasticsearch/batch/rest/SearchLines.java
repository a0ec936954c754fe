package dev.vamana.elasticsearch.batch.rest;

import dev.vamana.elasticsearch.batch.BatchSearchRequest;
import dev.vamana.elasticsearch.batch.BatchSearchResponse;
import dev.vamana.elasticsearch.batch.TransportBatchSearchAction;
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
 * The searches of a body of lines, each of which is the body of one search. Lines of nothing but
 * blanks are none. Not for use by several threads at once.
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
   * The lines of a body.
   *
   * @param client searches for the sender of the request whose thread this is
   * @param body released with this object
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

  /** Whether {@link #searchNext} has a line to search for; may be asked after the end too. */
  boolean hasNext() {
    return start < length;
  }

  /**
   * Searches for the next line's vectors.
   *
   * @param listener told of what is wrong with the line as of a failed search
   */
  void searchNext(ActionListener<BatchSearchResponse> listener) {
    ReleasableBytesReference line = body.retainedSlice(start, end - start);
    advance();
    // a later line is asked for by a thread that writes answers, which knows nothing of the sender
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
