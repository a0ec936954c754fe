package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import java.util.Iterator;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.xcontent.ToXContent;

/** The hits of all queries of a batch, in one of the two forms that a client may ask for. */
public sealed interface BatchHits extends Writeable, Releasable permits StandardHits, ColumnarHits {

  /** How many queries there were. */
  int queries();

  /** Writes the fields that hold the hits into the object of the answer. */
  Iterator<? extends ToXContent> toXContentChunked(ToXContent.Params params);

  /** Reads the hits of the form that a flag before them tells. */
  static BatchHits readFrom(StreamInput in) throws IOException {
    return in.readBoolean() ? ColumnarHits.readFrom(in) : StandardHits.readFrom(in);
  }
}
