package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.search.DevicePresence;
import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * One vector field of one segment of one copy of a shard.
 *
 * @param copy the copy of the shard
 * @param report segment, field, and presence on the device
 * @param ours whether the field is in this plugin's format
 * @param dimension components of a vector in the segment
 * @param similarity similarity of the field in the segment, as in mappings
 * @param disk bytes in the segment's files
 * @param codebook name of the shared codebook of the codes; empty if the codes have their own
 *     codebook, null without codes or if it is unknown
 * @param codebookVersion version of the shared codebook, or 0
 */
public record FieldSegment(
    ShardCopy copy,
    SegmentReport report,
    boolean ours,
    int dimension,
    String similarity,
    Bytes disk,
    String codebook,
    long codebookVersion)
    implements Writeable {

  /**
   * A copy of a shard.
   *
   * @param node name of the node that holds the copy
   */
  public record ShardCopy(String index, int shard, boolean primary, String node)
      implements Writeable {
    ShardCopy(StreamInput in) throws IOException {
      this(in.readString(), in.readVInt(), in.readBoolean(), in.readString());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(index);
      out.writeVInt(shard);
      out.writeBoolean(primary);
      out.writeString(node);
    }
  }

  /**
   * Bytes of a field's parts.
   *
   * @param vectors bytes of the raw vectors
   * @param graph bytes of the graph
   * @param codes bytes of the codes
   */
  public record Bytes(long vectors, long graph, long codes) implements Writeable {
    Bytes(StreamInput in) throws IOException {
      this(in.readVLong(), in.readVLong(), in.readVLong());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeVLong(vectors);
      out.writeVLong(graph);
      out.writeVLong(codes);
    }
  }

  public FieldSegment {
    Objects.requireNonNull(copy, "copy");
    Objects.requireNonNull(report, "report");
    Objects.requireNonNull(disk, "disk");
  }

  /** Whether the field is on the device: {@code resident}, or the reason why it is not. */
  String state() {
    DevicePresence presence = report.presence();
    return presence.reason() == null ? "resident" : presence.reason().replace(' ', '_');
  }

  FieldSegment(StreamInput in) throws IOException {
    this(
        new ShardCopy(in),
        new SegmentReport(in),
        in.readBoolean(),
        in.readVInt(),
        in.readString(),
        new Bytes(in),
        in.readOptionalString(),
        in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    copy.writeTo(out);
    report.writeTo(out);
    out.writeBoolean(ours);
    out.writeVInt(dimension);
    out.writeString(similarity);
    disk.writeTo(out);
    out.writeOptionalString(codebook);
    out.writeVLong(codebookVersion);
  }
}
