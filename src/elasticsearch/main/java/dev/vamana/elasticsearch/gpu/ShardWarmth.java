package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.segments.SegmentReport;
import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * The state of one copy of a shard after a warm-up.
 *
 * @param timedOut whether the time ran out before all uploads had ended
 */
record ShardWarmth(ShardRouting routing, List<SegmentReport> segments, boolean timedOut)
    implements ShardResult {

  ShardWarmth {
    segments = List.copyOf(segments);
  }

  static ShardWarmth read(StreamInput in) throws IOException {
    WireVersion.read(in);
    return new ShardWarmth(
        new ShardRouting(in), in.readCollectionAsList(SegmentReport::new), in.readBoolean());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    WireVersion.write(out);
    routing.writeTo(out);
    out.writeCollection(segments);
    out.writeBoolean(timedOut);
  }

  @Override
  public void writeMembers(XContentBuilder json) throws IOException {
    json.startArray("segments");
    for (SegmentReport segment : segments) {
      segment.toXContent(json, ToXContent.EMPTY_PARAMS);
    }
    json.endArray();
  }
}
