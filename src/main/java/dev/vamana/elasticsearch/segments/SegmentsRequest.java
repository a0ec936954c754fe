package dev.vamana.elasticsearch.segments;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.action.support.broadcast.BroadcastRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;

/** Asks all copies of shards for their segments' vector fields. */
public final class SegmentsRequest extends BroadcastRequest<SegmentsRequest> {

  /**
   * A request.
   *
   * @param indices names, aliases, data streams or patterns; none means all
   */
  public SegmentsRequest(String... indices) {
    super(indices, IndicesOptions.strictExpandOpenAndForbidClosed());
  }

  SegmentsRequest(StreamInput in) throws IOException {
    super(in);
  }

  @Override
  public boolean includeDataStreams() {
    return true;
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new CancellableTask(id, type, action, "", parent, headers);
  }
}
