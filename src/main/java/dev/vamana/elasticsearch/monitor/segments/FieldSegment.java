package dev.vamana.elasticsearch.monitor.segments;

import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * One vector field of one segment of one copy of a shard.
 *
 * @param copy the copy of the shard
 * @param segment name of the segment
 * @param field name of the field
 * @param vectors number of vectors, including vectors of deleted documents
 * @param dimension components of a vector in the segment
 * @param similarity similarity of the field in the segment
 * @param encoding type of the components
 * @param disk bytes in the segment's files
 * @param device presence on the device
 * @param codebook name of the shared codebook of the codes; empty if the codes have their own
 *     codebook, null without codes or if it is unknown
 * @param codebookVersion version of the shared codebook, or 0
 */
public record FieldSegment(
    ShardCopy copy,
    String segment,
    String field,
    long vectors,
    int dimension,
    String similarity,
    String encoding,
    Bytes disk,
    OnDevice device,
    String codebook,
    long codebookVersion)
    implements Writeable {

  /**
   * A copy of a shard.
   *
   * @param nodeId id of the node that holds the copy
   * @param node name of the node
   */
  public record ShardCopy(String index, int shard, boolean primary, String nodeId, String node)
      implements Writeable {
    ShardCopy(StreamInput in) throws IOException {
      this(in.readString(), in.readVInt(), in.readBoolean(), in.readString(), in.readString());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(index);
      out.writeVInt(shard);
      out.writeBoolean(primary);
      out.writeString(nodeId);
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

  /**
   * Presence of a field on a device.
   *
   * @param placement the placement on the device, or {@code cpu} if the field is not there
   * @param state {@code resident}, or the reason why the field is not on the device
   * @param graph bytes of the graph on the device
   * @param codes bytes of the codes on the device
   * @param total bytes of the field on the device in all
   * @param devices numbers of the devices that have it, with commas; empty if none has
   */
  public record OnDevice(
      String placement, String state, long graph, long codes, long total, String devices)
      implements Writeable {

    /** The field is searched on the CPU. */
    static OnDevice not(String why) {
      return new OnDevice("cpu", why, 0, 0, 0, "");
    }

    OnDevice(StreamInput in) throws IOException {
      this(
          in.readString(),
          in.readString(),
          in.readVLong(),
          in.readVLong(),
          in.readVLong(),
          in.readString());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(placement);
      out.writeString(state);
      out.writeVLong(graph);
      out.writeVLong(codes);
      out.writeVLong(total);
      out.writeString(devices);
    }
  }

  public FieldSegment {
    Objects.requireNonNull(copy, "copy");
    Objects.requireNonNull(disk, "disk");
    Objects.requireNonNull(device, "device");
  }

  /** Whether the field is in this plugin's format. */
  public boolean ours() {
    return device.state().equals(SegmentLister.STOCK) == false;
  }

  FieldSegment(StreamInput in) throws IOException {
    this(
        new ShardCopy(in),
        in.readString(),
        in.readString(),
        in.readVLong(),
        in.readVInt(),
        in.readString(),
        in.readString(),
        new Bytes(in),
        new OnDevice(in),
        in.readOptionalString(),
        in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    copy.writeTo(out);
    out.writeString(segment);
    out.writeString(field);
    out.writeVLong(vectors);
    out.writeVInt(dimension);
    out.writeString(similarity);
    out.writeString(encoding);
    disk.writeTo(out);
    device.writeTo(out);
    out.writeOptionalString(codebook);
    out.writeVLong(codebookVersion);
  }
}
