package dev.vamana.elasticsearch.stats;

import java.io.IOException;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * A node's GPU: whether it is used, what it is, and what it has done since the node started.
 *
 * <p>Counters travel under their names, so that nodes of different versions of the plugin
 * understand each other.
 *
 * @param enabled what the setting {@code vamana.gpu.enabled} says
 * @param state whether it answers searches now
 * @param reason why it does not, or null if it does
 * @param device what it is, or null if there is none
 * @param counters groups of counters, by name
 */
public record GpuStats(
    String enabled,
    State state,
    String reason,
    Device device,
    SortedMap<String, SortedMap<String, Long>> counters)
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

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * What a device is.
   *
   * @param ordinal its number, from 0
   * @param name as the driver tells it
   * @param computeCapability ten times major plus minor, 90 for 9.0
   * @param multiprocessors streaming multiprocessors
   * @param totalBytes its memory
   * @param driverVersion the driver's CUDA version, 13000 for 13.0
   */
  public record Device(
      int ordinal,
      String name,
      int computeCapability,
      int multiprocessors,
      long totalBytes,
      int driverVersion)
      implements Writeable, ToXContentObject {

    Device(StreamInput in) throws IOException {
      this(
          in.readVInt(),
          in.readString(),
          in.readVInt(),
          in.readVInt(),
          in.readVLong(),
          in.readVInt());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeVInt(ordinal);
      out.writeString(name);
      out.writeVInt(computeCapability);
      out.writeVInt(multiprocessors);
      out.writeVLong(totalBytes);
      out.writeVInt(driverVersion);
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
      json.startObject();
      json.field("ordinal", ordinal);
      json.field("name", name);
      json.field("compute_capability", computeCapability / 10 + "." + computeCapability % 10);
      json.field("multiprocessors", multiprocessors);
      json.field("memory_bytes", totalBytes);
      json.field("cuda_version", driverVersion / 1000 + "." + driverVersion % 1000 / 10);
      return json.endObject();
    }
  }

  /** Copies the counters. */
  public GpuStats {
    Objects.requireNonNull(enabled, "enabled");
    Objects.requireNonNull(state, "state");
    SortedMap<String, SortedMap<String, Long>> copy = new TreeMap<>();
    counters.forEach(
        (group, values) ->
            copy.put(group, Collections.unmodifiableSortedMap(new TreeMap<>(values))));
    counters = Collections.unmodifiableSortedMap(copy);
  }

  /** Statistics of a node without a usable GPU. */
  public static GpuStats without(String enabled, State state, String reason) {
    return new GpuStats(enabled, state, reason, null, Collections.emptySortedMap());
  }

  /** Reads what {@link #writeTo} wrote. */
  public GpuStats(StreamInput in) throws IOException {
    this(
        in.readString(),
        in.readEnum(State.class),
        in.readOptionalString(),
        in.readOptionalWriteable(Device::new),
        readCounters(in));
  }

  private static SortedMap<String, SortedMap<String, Long>> readCounters(StreamInput in)
      throws IOException {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>();
    int count = in.readVInt();
    for (int i = 0; i < count; i++) {
      String group = in.readString();
      groups.put(group, new TreeMap<>(in.readMap(StreamInput::readZLong)));
    }
    return groups;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(enabled);
    out.writeEnum(state);
    out.writeOptionalString(reason);
    out.writeOptionalWriteable(device);
    out.writeVInt(counters.size());
    for (Map.Entry<String, SortedMap<String, Long>> group : counters.entrySet()) {
      out.writeString(group.getKey());
      out.writeMap(group.getValue(), StreamOutput::writeZLong);
    }
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("enabled", enabled);
    json.field("state", state.label());
    if (reason != null) {
      json.field("reason", reason);
    }
    if (device != null) {
      json.field("device", device);
    }
    for (Map.Entry<String, SortedMap<String, Long>> group : counters.entrySet()) {
      json.startObject(group.getKey());
      for (Map.Entry<String, Long> counter : group.getValue().entrySet()) {
        json.field(counter.getKey(), counter.getValue());
      }
      json.endObject();
    }
    return json.endObject();
  }
}
