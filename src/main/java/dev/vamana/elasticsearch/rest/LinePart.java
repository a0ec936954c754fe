package dev.vamana.elasticsearch.rest;

import java.io.IOException;
import java.util.function.Consumer;
import org.apache.lucene.util.BytesRef;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.common.recycler.Recycler;
import org.elasticsearch.common.xcontent.ChunkedToXContent;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.core.Releasables;
import org.elasticsearch.rest.ChunkedRestResponseBodyPart;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.xcontent.ToXContent;

/** The answer to one line of a body, followed by a newline. */
final class LinePart implements ChunkedRestResponseBodyPart, Releasable {
  private static final BytesArray NEWLINE = new BytesArray(new byte[] {'\n'});

  private final ChunkedRestResponseBodyPart answer;
  private final Releasable whenWritten;
  private final boolean last;
  private final Consumer<ActionListener<ChunkedRestResponseBodyPart>> next;
  private boolean ended;

  /**
   * Makes the part for one line.
   *
   * @param whenWritten released once, when the part has been written or is discarded
   * @param last whether this is the last line
   * @param next supplies the next part
   */
  LinePart(
      RestChannel channel,
      ChunkedToXContent answer,
      Releasable whenWritten,
      boolean last,
      Consumer<ActionListener<ChunkedRestResponseBodyPart>> next)
      throws IOException {
    this.answer =
        ChunkedRestResponseBodyPart.fromXContent(answer, ToXContent.EMPTY_PARAMS, channel);
    this.whenWritten = Releasables.releaseOnce(whenWritten);
    this.last = last;
    this.next = next;
  }

  @Override
  public boolean isPartComplete() {
    return ended;
  }

  @Override
  public boolean isLastPart() {
    return last;
  }

  @Override
  public void getNextPart(ActionListener<ChunkedRestResponseBodyPart> listener) {
    close();
    next.accept(listener);
  }

  @Override
  public ReleasableBytesReference encodeChunk(int sizeHint, Recycler<BytesRef> recycler)
      throws IOException {
    if (answer.isPartComplete()) {
      ended = true;
      return ReleasableBytesReference.wrap(NEWLINE);
    }
    return answer.encodeChunk(sizeHint, recycler);
  }

  @Override
  public String getResponseContentTypeString() {
    return RestBatchSearchAction.LINES;
  }

  @Override
  public void close() {
    whenWritten.close();
  }
}
