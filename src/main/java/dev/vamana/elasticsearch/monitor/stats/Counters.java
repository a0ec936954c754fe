package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * Numbers by name, and groups of numbers. Unknown numbers are absent. Names include the unit;
 * numbers whose name ends with {@code _in_bytes} or {@code _in_millis} are also shown in readable
 * form if a request has the parameter {@code human}.
 *
 * <p>Numbers are sent with their names, so that nodes with different versions of the plugin
 * understand each other.
 *
 * @param values numbers by name
 * @param groups groups by name; no name is in both maps
 */
public record Counters(SortedMap<String, Long> values, SortedMap<String, Counters> groups)
    implements Writeable, ToXContentObject {

  private static final String BYTES = "_in_bytes";
  private static final String MILLIS = "_in_millis";

  /** Copies both maps. */
  public Counters {
    values = Collections.unmodifiableSortedMap(new TreeMap<>(values));
    groups = Collections.unmodifiableSortedMap(new TreeMap<>(groups));
  }

  /** Reads what {@link #writeTo} wrote. */
  public Counters(StreamInput in) throws IOException {
    this(
        new TreeMap<>(in.readMap(StreamInput::readZLong)),
        new TreeMap<>(in.readMap(Counters::new)));
  }

  /** Makes counters without groups. */
  public static Counters of(Map<String, Long> values) {
    return new Counters(new TreeMap<>(values), Collections.emptySortedMap());
  }

  /** Makes a builder. */
  public static Builder builder() {
    return new Builder();
  }

  /** The sum of the numbers, without those in groups. */
  public long sum() {
    return values.values().stream().mapToLong(Long::longValue).sum();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeMap(values, StreamOutput::writeZLong);
    out.writeMap(groups, StreamOutput::writeWriteable);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    for (Map.Entry<String, Long> entry : values.entrySet()) {
      String name = entry.getKey();
      long value = entry.getValue();
      if (name.endsWith(BYTES) && value >= 0) {
        json.humanReadableField(name, readable(name, BYTES), ByteSizeValue.ofBytes(value));
      } else if (name.endsWith(MILLIS) && value >= 0) {
        json.humanReadableField(name, readable(name, MILLIS), TimeValue.timeValueMillis(value));
      } else {
        json.field(name, value);
      }
    }
    for (Map.Entry<String, Counters> entry : groups.entrySet()) {
      json.field(entry.getKey(), entry.getValue());
    }
    return json.endObject();
  }

  private static String readable(String name, String unit) {
    return name.substring(0, name.length() - unit.length());
  }

  /** Collects numbers and groups. */
  public static final class Builder {
    private final SortedMap<String, Long> values = new TreeMap<>();
    private final SortedMap<String, Counters> groups = new TreeMap<>();

    private Builder() {}

    /**
     * Adds a number.
     *
     * @param value the number; null adds nothing
     */
    public Builder put(String name, Long value) {
      if (value != null) {
        values.put(name, value);
      }
      return this;
    }

    /** Adds a group. */
    public Builder put(String name, Counters group) {
      groups.put(name, group);
      return this;
    }

    /** Adds a group unless it is empty. */
    public Builder putIfAny(String name, Counters group) {
      return group.values.isEmpty() && group.groups.isEmpty() ? this : put(name, group);
    }

    /** Makes the counters. */
    public Counters build() {
      return new Counters(values, groups);
    }
  }
}
