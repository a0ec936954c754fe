package dev.vamana.elasticsearch.residency;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.support.broadcast.BroadcastRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;

/** Asks the nodes that hold indices to take their segments from the device. */
public final class ClearCacheRequest extends BroadcastRequest<ClearCacheRequest> {

  /** A request about some indices, by name, alias or pattern. */
  public ClearCacheRequest(String... indices) {
    super(indices);
  }

  /** Reads what {@link #writeTo} wrote. */
  public ClearCacheRequest(StreamInput in) throws IOException {
    super(in);
  }

  @Override
  public String getDescription() {
    return "indices[" + String.join(",", indices()) + "]";
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new CancellableTask(id, type, action, getDescription(), parent, headers);
  }
}
