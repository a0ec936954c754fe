package dev.vamana.elasticsearch.monitor;

import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * A notice for the operator of a node.
 *
 * @param kind label of the {@link NoticeKind}
 * @param subject what the notice is about, for instance an index and a field; never empty
 * @param message message of the first occurrence
 * @param count number of occurrences, at least 1
 * @param firstMillis time of the first occurrence, in milliseconds since 1970
 */
public record Notice(String kind, String subject, String message, long count, long firstMillis)
    implements Writeable, ToXContentObject {

  public Notice {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(message, "message");
  }

  /** Reads what {@link #writeTo} wrote. */
  public Notice(StreamInput in) throws IOException {
    this(in.readString(), in.readString(), in.readString(), in.readVLong(), in.readZLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(kind);
    out.writeString(subject);
    out.writeString(message);
    out.writeVLong(count);
    out.writeZLong(firstMillis);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("kind", kind);
    json.field("subject", subject);
    json.field("message", message);
    json.field("count", count);
    json.timestampFieldsFromUnixEpochMillis("first_in_millis", "first", firstMillis);
    return json.endObject();
  }
}
