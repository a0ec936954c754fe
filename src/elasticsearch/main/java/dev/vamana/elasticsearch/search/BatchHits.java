package dev.vamana.elasticsearch.search;

import java.util.Iterator;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.xcontent.ToXContent;

/** The hits of all queries of a batch, in one of the two forms that a client can choose. */
public sealed interface BatchHits extends Releasable permits StandardHits, ColumnarHits {

  /** Number of queries. */
  int queries();

  /** Writes the hits' fields into the object of the answer. */
  Iterator<? extends ToXContent> toXContentChunked(ToXContent.Params params);
}
