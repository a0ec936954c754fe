package dev.vamana.elasticsearch.search;

import java.io.IOException;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** The documents requested by a {@link ShardFetchRequest}. */
final class ShardFetchResponse extends ActionResponse {

  private final FetchedDocs fetched;

  ShardFetchResponse(FetchedDocs fetched) {
    this.fetched = fetched;
  }

  ShardFetchResponse(StreamInput in) throws IOException {
    this(FetchedDocs.readFrom(in));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    fetched.writeTo(out);
  }

  FetchedDocs fetched() {
    return fetched;
  }
}
