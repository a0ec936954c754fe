package dev.vamana.elasticsearch.residency;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.action.support.broadcast.BroadcastResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.XContentBuilder;

/** What was taken from the devices. */
public final class ClearCacheResponse extends BroadcastResponse {

  private final List<ShardCleared> shards;

  ClearCacheResponse(
      int total,
      int successful,
      int failed,
      List<ShardCleared> shards,
      List<DefaultShardOperationFailedException> failures) {
    super(total, successful, failed, failures);
    this.shards = List.copyOf(shards);
  }

  /** Reads what {@link #writeTo} wrote. */
  public ClearCacheResponse(StreamInput in) throws IOException {
    super(in);
    shards = in.readCollectionAsImmutableList(ShardCleared::new);
  }

  /** Device memory that is free now, or when launches that use it end. */
  public long freedBytes() {
    return shards.stream().mapToLong(ShardCleared::freedBytes).sum();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeCollection(shards);
  }

  @Override
  protected void addCustomXContentFields(XContentBuilder json, Params params) throws IOException {
    json.field("freed_bytes", freedBytes());
    ShardResult.write(json, shards);
  }
}
