package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.search.DevicePresence;
import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * One vector field of one segment of a copy of a shard.
 *
 * @param report segment, field, and presence on the device
 * @param ours whether the field is in this plugin's format
 * @param dimension components of a vector in the segment
 * @param similarity similarity of the field in the segment, as in mappings
 * @param vectorBytes bytes of the raw vectors in the segment's files
 * @param graphBytes bytes of the graph in the segment's files
 * @param codeBytes bytes of the codes in the segment's files
 * @param codebook name of the shared codebook of the codes; empty if the codes have their own
 *     codebook, null without codes or if it is unknown
 * @param codebookVersion version of the shared codebook, or 0
 */
record FieldSegment(
    SegmentReport report,
    boolean ours,
    int dimension,
    String similarity,
    long vectorBytes,
    long graphBytes,
    long codeBytes,
    String codebook,
    long codebookVersion)
    implements Writeable {

  FieldSegment {
    Objects.requireNonNull(report, "report");
    Objects.requireNonNull(similarity, "similarity");
  }

  FieldSegment(StreamInput in) throws IOException {
    this(
        new SegmentReport(in),
        in.readBoolean(),
        in.readVInt(),
        in.readString(),
        in.readVLong(),
        in.readVLong(),
        in.readVLong(),
        in.readOptionalString(),
        in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    report.writeTo(out);
    out.writeBoolean(ours);
    out.writeVInt(dimension);
    out.writeString(similarity);
    out.writeVLong(vectorBytes);
    out.writeVLong(graphBytes);
    out.writeVLong(codeBytes);
    out.writeOptionalString(codebook);
    out.writeVLong(codebookVersion);
  }

  /** Whether the field is on the device: {@code resident}, or the reason why it is not. */
  String state() {
    DevicePresence presence = report.presence();
    return presence.reason() == null ? "resident" : presence.reason().replace(' ', '_');
  }
}
