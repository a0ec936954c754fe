package dev.vamana.elasticsearch.monitor.stats;

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
 * @param enabled value of the setting {@code vamana.gpu.enabled}
 * @param state state of the GPU now
 * @param reason reason why the GPU does not answer searches, or null if it does
 * @param contexts counts of contexts {@code opened}, {@code lost}, of {@code failed_attempts} to
 *     open one, and of known questions; empty if there was no attempt
 */
public record StateStats(String enabled, State state, String reason, Counters contexts)
    implements Writeable, ToXContentObject {

  /** The states of a node's GPU. */
  public enum State {
    /** The node's settings switch the GPU off. */
    OFF,
    /** There was no usable GPU when the node started. */
    UNAVAILABLE,
    /** The GPU answers searches. */
    READY,
    /** The GPU has failed; the CPU answers until the next attempt succeeds. */
    FAILED;

    /** The name in responses. */
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
