package dev.vamana.elasticsearch.gpu;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.xcontent.XContentBuilder;

/** The result of removing segments from the devices. */
public final class ClearCacheResponse extends ShardsResponse<ShardCleared> {

  ClearCacheResponse(
      int total,
      int successful,
      int failed,
      List<ShardCleared> shards,
      List<DefaultShardOperationFailedException> failures) {
    super(total, successful, failed, shards, failures);
  }

  /** Reads what {@link #writeTo} wrote. */
  public ClearCacheResponse(StreamInput in) throws IOException {
    super(in, ShardCleared::read);
  }

  /** Bytes of device memory that are freed, at once or when the launches that use them end. */
  public long freedBytes() {
    return shards().stream().mapToLong(ShardCleared::freedBytes).sum();
  }

  @Override
  void writeTotals(XContentBuilder json) throws IOException {
    json.humanReadableField("freed_in_bytes", "freed", ByteSizeValue.ofBytes(freedBytes()));
  }
}
