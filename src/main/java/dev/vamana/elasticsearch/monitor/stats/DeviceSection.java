package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * One of several devices of a node.
 *
 * @param device the device and its sensors
 * @param state whether it answers
 * @param counters its share of the node's numbers: {@code segments} and {@code items} that went to
 *     it, {@code residency}, {@code launches} and {@code memory}
 */
public record DeviceSection(DeviceStats device, StateStats state, Counters counters)
    implements Writeable, ToXContentObject {

  public DeviceSection {
    Objects.requireNonNull(device, "device");
    Objects.requireNonNull(state, "state");
    Objects.requireNonNull(counters, "counters");
  }

  /** Reads what {@link #writeTo} wrote. */
  public DeviceSection(StreamInput in) throws IOException {
    this(new DeviceStats(in), new StateStats(in), new Counters(in));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    device.writeTo(out);
    state.writeTo(out);
    counters.writeTo(out);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field(Metric.DEVICE.label(), device);
    json.field(Metric.STATE.label(), state);
    json.field("counters", counters);
    return json.endObject();
  }
}
