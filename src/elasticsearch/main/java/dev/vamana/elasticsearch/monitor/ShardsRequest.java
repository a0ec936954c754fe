package dev.vamana.elasticsearch.monitor;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.action.support.broadcast.BroadcastRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;

/**
 * A request to every copy of the shards of some indices. It can be cancelled.
 *
 * @param <Q> the concrete class
 */
public abstract class ShardsRequest<Q extends ShardsRequest<Q>> extends BroadcastRequest<Q> {

  /** Makes a request for some indices, by name, alias or pattern. */
  protected ShardsRequest(String... indices) {
    super(indices);
  }

  /** Makes a request for some indices, resolved with the given options. */
  protected ShardsRequest(String[] indices, IndicesOptions options) {
    super(indices, options);
  }

  /** Reads what {@link #writeTo} wrote. */
  protected ShardsRequest(StreamInput in) throws IOException {
    super(in);
    WireVersion.read(in);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    WireVersion.write(out);
  }

  @Override
  public String getDescription() {
    return "indices[" + String.join(",", indices()) + "]";
  }

  @Override
  public final Task createTask(
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new CancellableTask(id, type, action, getDescription(), parent, headers);
  }
}
