package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * The result of removing one copy of a shard from the device.
 *
 * @param segments number of vector fields in this plugin's format in the copy's segments, on the
 *     device or not
 * @param freedBytes bytes of device memory that are freed, at once or when the launches that use
 *     them end
 */
record ShardCleared(ShardRouting routing, int segments, long freedBytes) implements ShardResult {

  static ShardCleared read(StreamInput in) throws IOException {
    WireVersion.read(in);
    return new ShardCleared(new ShardRouting(in), in.readVInt(), in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    WireVersion.write(out);
    routing.writeTo(out);
    out.writeVInt(segments);
    out.writeVLong(freedBytes);
  }

  @Override
  public void writeMembers(XContentBuilder json) throws IOException {
    json.field("segments", segments);
    json.humanReadableField("freed_in_bytes", "freed", ByteSizeValue.ofBytes(freedBytes));
  }
}
