package dev.vamana.elasticsearch.monitor.segments;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.action.support.broadcast.BaseBroadcastResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/** The vector fields of the segments of all copies of shards that answered. */
public final class SegmentsResponse extends BaseBroadcastResponse {
  private final List<FieldSegment> segments;

  SegmentsResponse(
      int total,
      int successful,
      int failed,
      List<DefaultShardOperationFailedException> failures,
      List<FieldSegment> segments) {
    super(total, successful, failed, failures);
    this.segments = List.copyOf(segments);
  }

  SegmentsResponse(StreamInput in) throws IOException {
    super(in);
    segments = List.copyOf(in.readCollectionAsList(FieldSegment::new));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeCollection(segments);
  }

  /** The fields, in no particular order. */
  public List<FieldSegment> segments() {
    return segments;
  }

  /** The fields of one copy of a shard. */
  record OfShard(List<FieldSegment> segments) implements Writeable {
    OfShard(StreamInput in) throws IOException {
      this(in.readCollectionAsList(FieldSegment::new));
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeCollection(segments);
    }
  }
}
