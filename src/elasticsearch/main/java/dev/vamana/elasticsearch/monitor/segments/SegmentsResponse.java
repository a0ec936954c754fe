package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.recall.Searches;
import dev.vamana.elasticsearch.monitor.recall.Tally;
import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.action.support.broadcast.BaseBroadcastResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/** The vector fields of all copies of shards that answered. */
public final class SegmentsResponse extends BaseBroadcastResponse {
  private final List<OfShard> shards;

  SegmentsResponse(
      int total,
      int successful,
      int failed,
      List<OfShard> shards,
      List<DefaultShardOperationFailedException> failures) {
    super(total, successful, failed, failures);
    this.shards = List.copyOf(shards);
  }

  @Override
  public void writeTo(StreamOutput out) {
    TransportAction.localOnly();
  }

  /** The answers of copies, in no particular order. */
  List<OfShard> shards() {
    return shards;
  }

  /**
   * The vector fields of one copy of a shard.
   *
   * @param node name of the node that holds the copy
   * @param recall measured recall of the searches that the copy answered
   */
  record OfShard(
      String index,
      int shard,
      boolean primary,
      String node,
      List<FieldSegment> segments,
      Map<Searches, Tally> recall)
      implements Writeable {
    /** Reads what {@link #writeTo} wrote. */
    static OfShard read(StreamInput in) throws IOException {
      WireVersion.read(in);
      return new OfShard(
          in.readString(),
          in.readVInt(),
          in.readBoolean(),
          in.readString(),
          in.readCollectionAsList(FieldSegment::new),
          in.readMap(Searches::new, Tally::new));
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      WireVersion.write(out);
      out.writeString(index);
      out.writeVInt(shard);
      out.writeBoolean(primary);
      out.writeString(node);
      out.writeCollection(segments);
      out.writeMap(recall);
    }
  }
}
