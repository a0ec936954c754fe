package dev.vamana.elasticsearch.gpu;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.action.support.broadcast.BroadcastResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.XContentBuilder;

/** The answers of all copies of the shards of some indices. */
abstract class ShardsResponse<S extends ShardResult> extends BroadcastResponse {

  private final List<S> shards;

  ShardsResponse(
      int total,
      int successful,
      int failed,
      List<S> shards,
      List<DefaultShardOperationFailedException> failures) {
    super(total, successful, failed, failures);
    this.shards = List.copyOf(shards);
  }

  ShardsResponse(StreamInput in, Writeable.Reader<S> reader) throws IOException {
    super(in);
    shards = in.readCollectionAsImmutableList(reader);
  }

  /** The answers of the copies that did not fail. */
  final List<S> shards() {
    return shards;
  }

  /** Writes the members about all shards together. */
  abstract void writeTotals(XContentBuilder json) throws IOException;

  @Override
  public final void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeCollection(shards);
  }

  @Override
  protected final void addCustomXContentFields(XContentBuilder json, Params params)
      throws IOException {
    writeTotals(json);
    ShardResult.write(json, shards);
  }
}
