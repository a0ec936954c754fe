package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.segments.SegmentReport;
import dev.vamana.search.DevicePresence;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.xcontent.XContentBuilder;

/** The states of indices' segments after a warm-up. */
public final class WarmupResponse extends ShardsResponse<ShardWarmth> {

  WarmupResponse(
      int total,
      int successful,
      int failed,
      List<ShardWarmth> shards,
      List<DefaultShardOperationFailedException> failures) {
    super(total, successful, failed, shards, failures);
  }

  /** Reads what {@link #writeTo} wrote. */
  public WarmupResponse(StreamInput in) throws IOException {
    super(in, ShardWarmth::read);
  }

  /** The reports on the segments of all copies that answered. */
  public List<SegmentReport> segments() {
    return shards().stream().flatMap(shard -> shard.segments().stream()).toList();
  }

  /** Whether the time ran out before all uploads had ended. */
  public boolean timedOut() {
    return shards().stream().anyMatch(ShardWarmth::timedOut);
  }

  @Override
  void writeTotals(XContentBuilder json) throws IOException {
    json.field("timed_out", timedOut());
    List<SegmentReport> segments = segments();
    json.startObject("segments");
    for (DevicePresence.State state : DevicePresence.State.values()) {
      json.field(
          state.label(),
          segments.stream().filter(segment -> segment.presence().state() == state).count());
    }
    json.endObject();
    json.humanReadableField(
        "device_in_bytes",
        "device",
        ByteSizeValue.ofBytes(
            segments.stream().mapToLong(segment -> segment.presence().deviceBytes()).sum()));
    json.field(
        "damaged_files", segments.stream().mapToLong(segment -> segment.damaged().size()).sum());
  }
}
