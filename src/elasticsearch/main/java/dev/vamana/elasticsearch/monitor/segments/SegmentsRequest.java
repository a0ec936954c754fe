package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.ShardsRequest;
import java.io.IOException;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.rest.RestRequest;

/** Asks all copies of shards for the vector fields of their segments. */
public final class SegmentsRequest extends ShardsRequest<SegmentsRequest> {

  /**
   * Makes a request.
   *
   * @param indices names, aliases, data streams or patterns; none means all
   */
  public SegmentsRequest(String... indices) {
    super(indices, IndicesOptions.strictExpandOpenAndForbidClosed());
  }

  SegmentsRequest(StreamInput in) throws IOException {
    super(in);
  }

  /** Makes the request for the indices that a path names, with the options of its parameters. */
  static SegmentsRequest of(RestRequest rest) {
    SegmentsRequest request =
        new SegmentsRequest(Strings.splitStringByCommaToArray(rest.param("index")));
    request.indicesOptions(IndicesOptions.fromRequest(rest, request.indicesOptions()));
    return request;
  }

  @Override
  public boolean includeDataStreams() {
    return true;
  }
}
