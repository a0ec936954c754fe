package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.ShardsRequest;
import java.io.IOException;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.io.stream.StreamInput;

/** Asks all copies of shards for the recall of their searches. */
final class RecallRequest extends ShardsRequest<RecallRequest> {

  /** Makes a request for some indices, by name, alias, data stream or pattern. */
  RecallRequest(String... indices) {
    super(indices, IndicesOptions.strictExpandOpenAndForbidClosed());
  }

  RecallRequest(StreamInput in) throws IOException {
    super(in);
  }

  @Override
  public boolean includeDataStreams() {
    return true;
  }
}
