package dev.vamana.elasticsearch.search;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.search.internal.ShardSearchContextId;

/**
 * Asks a shard for documents of the reader that a {@link ShardQueryRequest} left open. The shard
 * closes the reader afterwards.
 */
final class ShardFetchRequest extends ShardRequest {

  private final ShardSearchContextId reader;
  private final int[] docs;
  private final FetchSpec fetch;
  private final long nowMillis;
  private final BatchSummary batch;

  /**
   * Makes a request.
   *
   * @param docs distinct documents in ascending order
   * @param batch the search that found them, for the log
   */
  ShardFetchRequest(
      ShardTarget target,
      ShardSearchContextId reader,
      int[] docs,
      FetchSpec fetch,
      long nowMillis,
      BatchSummary batch) {
    super(target);
    this.reader = reader;
    this.docs = docs;
    this.fetch = fetch;
    this.nowMillis = nowMillis;
    this.batch = batch.withoutFilters();
  }

  ShardFetchRequest(StreamInput in) throws IOException {
    super(in);
    reader = new ShardSearchContextId(in);
    docs = in.readVIntArray();
    fetch = FetchSpec.readFrom(in);
    nowMillis = in.readVLong();
    batch = BatchSummary.readFrom(in);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    reader.writeTo(out);
    out.writeVIntArray(docs);
    fetch.writeTo(out);
    out.writeVLong(nowMillis);
    batch.writeTo(out);
  }

  ShardSearchContextId reader() {
    return reader;
  }

  int[] docs() {
    return docs;
  }

  FetchSpec fetch() {
    return fetch;
  }

  long nowMillis() {
    return nowMillis;
  }

  BatchSummary batch() {
    return batch;
  }

  @Override
  public String getDescription() {
    return "shard[" + target().shardId() + "], fetched documents[" + docs.length + "]";
  }
}
