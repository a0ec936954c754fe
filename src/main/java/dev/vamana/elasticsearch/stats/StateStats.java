package dev.vamana.elasticsearch.stats;

import java.io.IOException;
import java.util.Locale;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * Whether a GPU answers searches.
 *
 * @param enabled what the setting {@code vamana.gpu.enabled} says
 * @param state whether it does now
 * @param reason why it does not, or null if it does
 * @param contexts contexts {@code opened}, {@code lost}, and {@code failed_attempts} to open one;
 *     empty if none has been tried
 */
public record StateStats(String enabled, State state, String reason, Counters contexts)
    implements Writeable, ToXContentObject {

  /** Whether a GPU answers searches. */
  public enum State {
    /** Switched off by the node's settings. */
    OFF,
    /** There was no usable one when the node started. */
    UNAVAILABLE,
    /** It answers searches. */
    READY,
    /** It has failed; the CPU answers until it is tried again. */
    FAILED;

    /** As responses spell it. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public StateStats {
    Objects.requireNonNull(enabled, "enabled");
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(contexts, "contexts");
  }

  /** Reads what {@link #writeTo} wrote. */
  public StateStats(StreamInput in) throws IOException {
    this(in.readString(), in.readEnum(State.class), in.readOptionalString(), new Counters(in));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(enabled);
    out.writeEnum(state);
    out.writeOptionalString(reason);
    contexts.writeTo(out);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("enabled", enabled);
    json.field("state", state.label());
    json.field("usable", state == State.READY);
    if (reason != null) {
      json.field("reason", reason);
    }
    if (contexts.values().isEmpty() == false) {
      json.field("contexts", contexts);
    }
    return json.endObject();
  }
}
