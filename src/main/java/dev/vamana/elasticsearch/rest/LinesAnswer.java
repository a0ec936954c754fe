package dev.vamana.elasticsearch.rest;

import java.io.IOException;
import java.io.OutputStream;
import org.elasticsearch.ElasticsearchException;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.support.SubscribableListener;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.common.xcontent.ChunkedToXContent;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentType;

/**
 * Sends the answer to a body of lines: one line per line of the body, in the same order. While one
 * answer is being written, the next line is searched, but not the line after it, so at most two
 * answers are in memory.
 */
final class LinesAnswer implements Releasable {
  private final RestChannel channel;
  private final SearchLines lines;
  private SubscribableListener<LinePart> searched;
  private LinePart written;
  private boolean closed;

  private LinesAnswer(RestChannel channel, SearchLines lines) {
    this.channel = channel;
    this.lines = lines;
  }

  /**
   * Searches for the lines and sends the answers.
   *
   * @param lines the lines; closed when the last answer has been written
   * @param failure notified if there are no lines or the answer's format does not allow lines
   */
  static void send(RestChannel channel, SearchLines lines, ActionListener<?> failure) {
    LinesAnswer answer = new LinesAnswer(channel, lines);
    try {
      answer.checkFits();
    } catch (IOException | IllegalArgumentException e) {
      lines.close();
      failure.onFailure(e);
      return;
    }
    answer.search();
    answer.take(
        ActionListener.wrap(
            part -> channel.sendResponse(RestResponse.chunked(RestStatus.OK, part, answer)),
            e -> {
              answer.close();
              failure.onFailure(e);
            }));
  }

  private void checkFits() throws IOException {
    if (lines.hasNext() == false) {
      throw BadBody.of("the body has no lines, allowed is one or more, each an object");
    }
    XContentType form;
    try (XContentBuilder builder =
        channel.newBuilder(
            channel.request().getXContentType(), null, true, OutputStream.nullOutputStream())) {
      form = builder.contentType().canonical();
    }
    if (form != XContentType.JSON || channel.request().paramAsBoolean("pretty", false)) {
      throw BadBody.of(
          "a body of lines is answered with lines of JSON, not [pretty] and in no other format");
    }
  }

  private void search() {
    SubscribableListener<LinePart> part = new SubscribableListener<>();
    searched = part;
    lines.searchNext(
        ActionListener.wrap(
            response -> {
              response.mustIncRef();
              arrived(part, response, response::decRef);
            },
            e -> arrived(part, error(e), () -> {})));
  }

  private void arrived(
      SubscribableListener<LinePart> part, ChunkedToXContent answer, Releasable whenWritten) {
    LinePart made;
    try {
      made = new LinePart(channel, answer, whenWritten, isLast(), this::take);
    } catch (IOException e) {
      whenWritten.close();
      part.onFailure(e);
      return;
    }
    part.onResponse(made);
  }

  private synchronized boolean isLast() {
    return lines.hasNext() == false;
  }

  /** Passes on the part whose search has started, and starts the search for the next part. */
  private void take(ActionListener<? super LinePart> listener) {
    SubscribableListener<LinePart> taken;
    synchronized (this) {
      taken = searched;
    }
    taken.addListener(
        ActionListener.wrap(
            part -> {
              if (isOpenFor(part)) {
                listener.onResponse(part);
              } else {
                part.close();
                listener.onFailure(new TaskCancelledException("the client has disconnected"));
              }
            },
            listener::onFailure));
  }

  private synchronized boolean isOpenFor(LinePart part) {
    if (closed) {
      return false;
    }
    written = part;
    if (lines.hasNext()) {
      search();
    }
    return true;
  }

  private ChunkedToXContent error(Exception failure) {
    return outer ->
        Iterators.single(
            (json, params) -> {
              json.startObject();
              ElasticsearchException.generateFailureXContent(
                  json, params, failure, channel.detailedErrorsEnabled());
              return json.field("status", ExceptionsHelper.status(failure).getStatus()).endObject();
            });
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    lines.close();
    if (written != null) {
      written.close();
    }
    searched.addListener(ActionListener.wrap(LinePart::close, e -> {}));
  }
}
