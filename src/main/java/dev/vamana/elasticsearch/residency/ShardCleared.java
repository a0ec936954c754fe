package dev.vamana.elasticsearch.residency;

import java.io.IOException;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * What was taken from the device of one copy of a shard.
 *
 * @param segments fields of segments in our format that the copy has, on the device or not
 * @param freedBytes device memory that is free now, or when launches that use it end
 */
record ShardCleared(ShardRouting routing, int segments, long freedBytes) implements ShardResult {

  ShardCleared(StreamInput in) throws IOException {
    this(new ShardRouting(in), in.readVInt(), in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    routing.writeTo(out);
    out.writeVInt(segments);
    out.writeVLong(freedBytes);
  }

  @Override
  public void writeMembers(XContentBuilder json) throws IOException {
    json.field("segments", segments);
    json.field("freed_bytes", freedBytes);
  }
}
