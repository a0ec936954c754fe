package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.search.DevicePresence;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * One field of a segment, and whether it is on the device.
 *
 * @param segment name of the segment
 * @param field name of the field
 * @param vectors number of vectors
 * @param presence presence on the device when the report was made
 * @param damaged names of the files whose checksum is known to be wrong
 */
public record SegmentReport(
    String segment, String field, int vectors, DevicePresence presence, List<String> damaged)
    implements Writeable, ToXContentObject {

  public SegmentReport {
    Objects.requireNonNull(segment, "segment");
    Objects.requireNonNull(field, "field");
    Objects.requireNonNull(presence, "presence");
    damaged = List.copyOf(damaged);
  }

  /** Reads what {@link #writeTo} wrote. */
  public SegmentReport(StreamInput in) throws IOException {
    this(
        in.readString(),
        in.readString(),
        in.readVInt(),
        new DevicePresence(
            in.readEnum(DevicePresence.State.class),
            in.readOptionalString(),
            in.readVLong(),
            in.readOptionalString()),
        in.readStringCollectionAsList());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(segment);
    out.writeString(field);
    out.writeVInt(vectors);
    out.writeEnum(presence.state());
    out.writeOptionalString(presence.placement());
    out.writeVLong(presence.deviceBytes());
    out.writeOptionalString(presence.reason());
    out.writeStringCollection(damaged);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("segment", segment);
    json.field("field", field);
    json.field("vectors", vectors);
    json.field("state", presence.state().label());
    if (presence.placement() != null) {
      json.field("placement", presence.placement());
      json.humanReadableField(
          "device_in_bytes", "device", ByteSizeValue.ofBytes(presence.deviceBytes()));
    }
    if (presence.reason() != null) {
      json.field("reason", presence.reason());
    }
    if (damaged.isEmpty() == false) {
      json.field("damaged_files", damaged);
    }
    return json.endObject();
  }
}
