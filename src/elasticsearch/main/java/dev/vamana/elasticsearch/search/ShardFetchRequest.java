package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.transport.AbstractTransportRequest;

/**
 * Asks a shard for documents of the reader that a {@link NodeQueryRequest} left open. The shard
 * closes the reader afterwards.
 */
final class ShardFetchRequest extends AbstractTransportRequest implements IndicesRequest {

  private final ShardTarget target;
  private final ShardSearchContextId reader;
  private final int[] docs;
  private final FetchSpec fetch;
  private final long nowMillis;
  private final Map<String, Object> batch;

  /** The documents of a request. */
  static final class Response extends ActionResponse {

    private final FetchedDocs fetched;

    Response(FetchedDocs fetched) {
      this.fetched = fetched;
    }

    Response(StreamInput in) throws IOException {
      int version = WireVersion.read(in);
      fetched = FetchedDocs.readFrom(in);
      WireVersion.end(in, version);
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      WireVersion.write(out);
      fetched.writeTo(out);
    }

    FetchedDocs fetched() {
      return fetched;
    }
  }

  /**
   * Makes a request.
   *
   * @param docs distinct documents in ascending order
   * @param batch describes the search that found them, for the log
   */
  ShardFetchRequest(
      ShardTarget target,
      ShardSearchContextId reader,
      int[] docs,
      FetchSpec fetch,
      long nowMillis,
      Map<String, Object> batch) {
    this.target = target;
    this.reader = reader;
    this.docs = docs;
    this.fetch = fetch;
    this.nowMillis = nowMillis;
    this.batch = batch;
  }

  ShardFetchRequest(StreamInput in) throws IOException {
    super(in);
    int version = WireVersion.read(in);
    target = ShardTarget.readFrom(in);
    reader = new ShardSearchContextId(in);
    docs = in.readVIntArray();
    fetch = FetchSpec.readFrom(in);
    nowMillis = in.readVLong();
    batch = in.readGenericMap();
    WireVersion.end(in, version);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    WireVersion.write(out);
    target.writeTo(out);
    reader.writeTo(out);
    out.writeVIntArray(docs);
    fetch.writeTo(out);
    out.writeVLong(nowMillis);
    out.writeGenericMap(batch);
  }

  ShardTarget target() {
    return target;
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

  Map<String, Object> batch() {
    return batch;
  }

  @Override
  public String[] indices() {
    return target.names().indices();
  }

  @Override
  public IndicesOptions indicesOptions() {
    return target.names().indicesOptions();
  }

  @Override
  public String getDescription() {
    return "shard[" + target.shardId() + "], fetched documents[" + docs.length + "]";
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parentTaskId, Map<String, String> headers) {
    return new BatchSearchTask(id, type, action, getDescription(), parentTaskId, headers);
  }
}
